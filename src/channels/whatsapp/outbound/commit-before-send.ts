import type { ChannelLog } from '../../channel.ts';

const RETRY_MS = 1_000;

/**
 * Gathers changes of keys and received messages, and commits them together before anything is sent that was to be
 * sent meanwhile.
 *
 * For WhatsApp and for everybody who writes to us, a frame from us is a promise that its keys are stored. So a frame
 * waits for the commit before it, and one commit serves all messages of a burst. While the disk refuses writes,
 * nothing is sent; a crash then is as if nothing had been received.
 */
export class CommitBeforeSend {
  readonly #commit: () => void;
  readonly #log: ChannelLog;
  #isAtOnce = false;
  #isChanged = false;
  #waiting: (() => void)[] = [];
  #cancel: (() => void) | null = null;

  /** @param commit writes all changes in one transaction, or throws and keeps them */
  constructor(commit: () => void, log: ChannelLog) {
    this.#commit = commit;
    this.#log = log;
  }

  /** Something is to be committed, with what else comes in this turn of the event loop. */
  change(): void {
    this.#isChanged = true;
    if (this.#isAtOnce) this.flush();
    else if (this.#cancel === null) {
      const soon = setImmediate(() => this.flush());
      this.#cancel = () => clearImmediate(soon);
    }
  }

  /** From here on nothing can be held back, so nothing is gathered. */
  commitAtOnce(): void {
    this.#isAtOnce = true;
    this.flush();
  }

  /** Sends at once where nothing is to be committed, else after the commit; the order is kept. */
  send(frame: () => void): void {
    if (this.#isChanged || this.#waiting.length > 0) this.#waiting.push(frame);
    else frame();
  }

  /** Commits at once. What cannot be committed now is tried again. */
  flush(): void {
    this.#stop();
    try {
      if (this.#isChanged) this.#commit();
    } catch (error) {
      this.#log.warn('keys of WhatsApp could not be stored', { error: String(error) });
      const later = setTimeout(() => this.flush(), RETRY_MS);
      this.#cancel = () => clearTimeout(later);
      return;
    }
    this.#isChanged = false;
    for (const frame of this.#waiting.splice(0)) frame();
  }

  /** Commits once more, and never again. */
  close(): void {
    this.flush();
    this.#stop();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}

import type * as webApi from '@slack/web-api';
import type { OutboundDraft } from '../channel.ts';
import { channelIdOf, stampOf } from './jid.ts';

/** Slack's names of 👀 and ✅. */
const AT_WORK = 'eyes';
const DONE = 'white_check_mark';

/** Requests for reactions; null while Slack is not connected. */
type Reactions = () => Promise<webApi.WebClient['reactions'] | null>;

/**
 * Marks a message on which the assistant works for long: with 👀 while it does, and with ✅ once it is answered. Quick
 * answers have no mark. What Slack refuses is left out: the mark is an extra.
 */
export class LongWork {
  readonly #reactions: Reactions;
  /** The last request for each message that has a mark, by chat and id. */
  readonly #marked = new Map<string, Promise<void>>();

  constructor(reactions: Reactions) {
    this.#reactions = reactions;
  }

  /** Looks at a step of an answer: one that says what is done meanwhile is of long work. */
  shown({ jid, answersTo = [], activity }: OutboundDraft): void {
    const id = answersTo.at(-1);
    if (activity === null || id === undefined) return;
    const key = `${jid} ${id}`;
    if (!this.#marked.has(key)) this.#marked.set(key, this.#change('add', AT_WORK, [jid, id]));
  }

  /** These messages are answered. */
  answered(jid: string, ids: readonly string[]): void {
    for (const id of ids) {
      const key = `${jid} ${id}`;
      const marking = this.#marked.get(key);
      this.#marked.delete(key);
      void marking
        ?.then(() => this.#change('remove', AT_WORK, [jid, id]))
        .then(() => this.#change('add', DONE, [jid, id]));
    }
  }

  async #change(
    how: 'add' | 'remove',
    name: string,
    [jid, id]: readonly [string, string],
  ): Promise<void> {
    const channel = channelIdOf(jid);
    if (channel === null) return;
    try {
      const reactions = await this.#reactions();
      await reactions?.[how]({ channel, name, timestamp: stampOf(id) });
    } catch {
      // The message may be deleted, or the app without the scope; the answer is there all the same.
    }
  }
}

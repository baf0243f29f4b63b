import {
  type Channel,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  defineChannel,
  type Frame,
  type OutboundMessage,
} from './channel.ts';
import { type ExchangeLimit, openExchangeLimit } from './kit/exchange-limit.ts';
import { PartDelivery } from './kit/part-delivery.ts';
import { plainParts } from './kit/plain-text.ts';
import { stayConnected } from './kit/stay-connected.ts';
import { allowListProblem } from './serial/access.ts';
import { SerialError, statusOf } from './serial/failure.ts';
import { type Inbox, openInbox } from './serial/inbox.ts';
import { CHAT, JID, writeLine } from './serial/line-message.ts';
import { type Line, openLine } from './serial/open-line.ts';
import { nameOf } from './serial/port.ts';
import { lineOf, SerialEnvironment, type SerialSettings } from './serial/settings.ts';
import { openWritten, type Written } from './serial/written-lines.ts';

/** A device on a serial line, which speaks in lines of JSON or plain text. Silent until SERIAL_PORT is set. */
export const channel = defineChannel({
  name: 'serial',
  needs: ['SERIAL_PORT'],
  settings: SerialEnvironment,
  create({ settings, log, clock, openDatabase }) {
    const line = lineOf(settings);
    if (line === null) return null;
    return new SerialChannel(line, { log, clock, written: openWritten(openDatabase, clock.now) });
  },
});

/** A device that was plugged in again is found within a second. */
const PAUSES = { firstMs: 100, longestMs: 1_000 };

type Parts = Pick<ChannelContext, 'log' | 'clock'> & { readonly written: Written };
type LinePart = { readonly at: number; readonly text: string };

/** The link, from `connect` to `disconnect`. */
type Link = {
  readonly events: ChannelEvents;
  readonly stop: AbortController;
  readonly running: Promise<void>;
  readonly inbox: Inbox;
};

/** In `connecting` and `failed` the line is tried again each second; `refused` stays until a setting is changed. */
class SerialChannel implements Channel {
  readonly name = 'serial';
  readonly allowSetting = 'SERIAL_ALLOW_FROM';
  readonly #settings: SerialSettings;
  readonly #parts: Parts;
  readonly #limit: ExchangeLimit;
  readonly #delivery: PartDelivery<LinePart>;
  /** Frames and parts are written one after the other. */
  #writing: Promise<unknown> = Promise.resolve();
  #status: ChannelStatus = { state: 'stopped', detail: null };
  #link: Link | null = null;
  #line: Line | null = null;

  constructor(settings: SerialSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#limit = openExchangeLimit(parts.clock.now);
    this.#delivery = new PartDelivery<LinePart>({
      partsOf: ({ text }) =>
        plainParts(text, settings.maxChars).map((part, at) => ({ ...part, at })),
      send: ({ id }, part) => this.#inTurn(() => this.#write(id, part)),
      pauseMs: () => null,
      pause: parts.clock.pause,
      explain: (error) => (error instanceof Error ? error : new Error(String(error))),
    });
  }

  async connect(events: ChannelEvents): Promise<void> {
    if (this.#link !== null) return;
    const { allowFrom, isOwner, port, baud } = this.#settings;
    const problem = allowListProblem(allowFrom);
    if (problem !== null) return this.#report(events, { state: 'refused', detail: problem });
    this.#report(events, { state: 'connecting', detail: null });
    if (isOwner) await events.onChat({ jid: JID, name: CHAT, isDirect: true, isOwners: true });
    const stop = new AbortController();
    const { signal } = stop;
    const { log, clock } = this.#parts;
    const inbox = openInbox({
      settings: this.#settings,
      events,
      log,
      clock,
      signal,
      limit: this.#limit,
    });
    const { promise: outcome, resolve } = Promise.withResolvers<void>();
    const report = (status: ChannelStatus): void => {
      this.#report(events, status);
      resolve();
    };
    let onData: (chunk: Uint8Array) => void = () => {};
    const running = stayConnected({
      title: nameOf(port),
      pauses: PAUSES,
      signal,
      clock,
      report,
      open: async () => {
        const line = await openLine({ port, baud, signal, onData: (chunk) => onData(chunk) });
        onData = inbox.begin(line.hold);
        this.#line = line;
        const closed = line.closed.then(() => {
          this.#line = null;
          throw new SerialError('GONE', `${nameOf(port)} is gone. Plug the device in again.`);
        });
        return { closed };
      },
      explain: (error) => ({ status: statusOf(error, port), isFinal: false, waitMs: null }),
    });
    this.#link = { events, stop, running, inbox };
    void running.then(resolve);
    await outcome;
  }

  async disconnect(): Promise<void> {
    const link = this.#link;
    if (link === null) return;
    this.#link = null;
    await this.#delivery.close();
    this.#line?.hold(true);
    await link.inbox.idle();
    link.stop.abort();
    await link.running;
    this.#report(link.events, { state: 'stopped', detail: null });
  }

  send(message: OutboundMessage): Promise<void> {
    return this.#delivery.send(message);
  }

  sendFrame(_jid: string, body: Frame['body']): Promise<void> {
    return this.#inTurn(async () => {
      const begin = this.#parts.written.isCut() ? '\n' : '';
      await this.#openLine().write(`${begin}${JSON.stringify(body)}\n`);
    });
  }

  /** A line has no sign for it. */
  async setTyping(_jid: string, _isTyping: boolean): Promise<void> {}

  ownsJid(jid: string): boolean {
    return jid === JID;
  }

  status(): ChannelStatus {
    return this.#status;
  }

  /** Writes a part that is not on the line yet, beginning with a newline where half of another may be there. */
  async #write(id: string, { at, text }: LinePart): Promise<void> {
    const { written } = this.#parts;
    if (written.partsOf(id) > at) return;
    const line = this.#openLine();
    const begin = written.isCut() ? '\n' : '';
    written.begin(id);
    this.#limit.answered(JID);
    await line.write(begin + writeLine(text));
    written.end(id, at + 1);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => {});
    return done;
  }

  #openLine(): Line {
    if (this.#line !== null) return this.#line;
    throw new SerialError('NOT_CONNECTED', 'The serial line is not there; nothing was sent.');
  }

  #report(events: ChannelEvents, status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    events.onStatus(status);
  }
}

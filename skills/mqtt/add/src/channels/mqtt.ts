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
import { STEADY_MS, stayConnected } from './kit/stay-connected.ts';
import { settingsProblem } from './mqtt/access.ts';
import { cutOff, explainFailure, MqttError } from './mqtt/failure.ts';
import { openInbox } from './mqtt/inbox.ts';
import { chatIn } from './mqtt/jid.ts';
import { writePayload } from './mqtt/payload.ts';
import { openRecords, type Records } from './mqtt/records.ts';
import type { Session } from './mqtt/session.ts';
import { brokerOf, MqttEnvironment, type MqttSettings } from './mqtt/settings.ts';
import { topicOutOf } from './mqtt/topics.ts';

/** Devices and programs that publish on topics of a broker. Silent until MQTT_URL is set. */
export const channel = defineChannel({
  name: 'mqtt',
  needs: ['MQTT_URL'],
  settings: MqttEnvironment,
  create({ settings, log, clock, openDatabase }) {
    const broker = brokerOf(settings);
    if (broker === null) return null;
    return new MqttChannel(broker, { log, clock, records: openRecords(openDatabase, clock.now) });
  },
});

/** Sessions that ended so soon one after the other are ended by another program. */
const MOST_SHORT = 3;

type Parts = Pick<ChannelContext, 'log' | 'clock'> & { readonly records: Records };
type MessagePart = { readonly at: number; readonly text: string };

/** The link, from `connect` to `disconnect`. */
type Link = {
  readonly events: ChannelEvents;
  readonly stop: AbortController;
  readonly running: Promise<void>;
};

/** In every state but `stopped` the channel goes on trying by itself, unless a setting of its own is wrong. */
class MqttChannel implements Channel {
  readonly name = 'mqtt';
  readonly allowSetting = 'MQTT_ALLOW_FROM';
  readonly #settings: MqttSettings;
  readonly #parts: Parts;
  readonly #limit: ExchangeLimit;
  readonly #delivery: PartDelivery<MessagePart>;
  #status: ChannelStatus = { state: 'stopped', detail: null };
  #link: Link | null = null;
  #session: Session | null = null;

  constructor(settings: MqttSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#limit = openExchangeLimit(parts.clock.now);
    this.#delivery = new PartDelivery<MessagePart>({
      partsOf: ({ text }) =>
        plainParts(text, settings.maxChars).map((part, at) => ({ text: part.text, at })),
      send: ({ id, jid }, part) => this.#publish(id, jid, part),
      pauseMs: () => null,
      pause: parts.clock.pause,
      explain: (error) => (error instanceof Error ? error : new Error(String(error))),
    });
  }

  async connect(events: ChannelEvents): Promise<void> {
    if (this.#link !== null) return;
    const settings = this.#settings;
    const problem = settingsProblem(settings);
    if (problem !== null) {
      this.#report(events, { state: 'refused', detail: problem });
      return;
    }
    this.#report(events, { state: 'connecting', detail: null });
    const { records, log, clock } = this.#parts;
    const { url, allowFrom } = settings;
    const fresh = `patchclaw-${Math.floor(clock.random() * 36 ** 8).toString(36)}`;
    const clientId = settings.clientId ?? records.clientId(fresh);
    const stop = new AbortController();
    const { signal } = stop;
    const take = openInbox({
      allowFrom,
      topics: settings,
      records,
      events,
      log,
      clock,
      limit: this.#limit,
    });
    const { promise: outcome, resolve } = Promise.withResolvers<void>();
    const report = (status: ChannelStatus): void => {
      this.#report(events, status);
      resolve();
    };
    let short = 0;
    const running = stayConnected({
      title: 'The broker',
      signal,
      clock,
      report,
      open: async () => {
        // MQTT.js takes a moment to load, which nobody without MQTT should wait for.
        const { openSession } = await import('./mqtt/session.ts');
        const session = await openSession({ settings, clientId, records, take, signal });
        const openedAt = clock.now();
        this.#session = session;
        // The end may come while a session is opened.
        if (signal.aborted) void session.close();
        const closed = session.closed.then(() => {
          this.#session = null;
          short = clock.now() - openedAt > STEADY_MS ? 0 : short + 1;
          throw cutOff(url, short > MOST_SHORT ? clientId : null);
        });
        return { closed };
      },
      explain: (error) => explainFailure(error, url),
    });
    this.#link = { events, stop, running };
    void running.then(resolve);
    await outcome;
  }

  async disconnect(): Promise<void> {
    const link = this.#link;
    if (link === null) return;
    this.#link = null;
    await this.#delivery.close();
    link.stop.abort();
    await this.#session?.close();
    await link.running;
    this.#report(link.events, { state: 'stopped', detail: null });
  }

  send(message: OutboundMessage): Promise<void> {
    return this.#delivery.send(message);
  }

  async sendFrame(jid: string, body: Frame['body']): Promise<void> {
    if (this.#session === null) throw notConnected();
    const topic = topicOutOf(this.#settings, chatIn(jid) ?? '');
    await this.#session.publishNow(topic, JSON.stringify(body));
  }

  /** A topic has no sign for it. */
  async setTyping(_jid: string, _isTyping: boolean): Promise<void> {}

  ownsJid(jid: string): boolean {
    return chatIn(jid) !== null;
  }

  status(): ChannelStatus {
    return this.#status;
  }

  async #publish(id: string, jid: string, { at, text }: MessagePart): Promise<void> {
    const { records } = this.#parts;
    const part = { id, at };
    const state = records.stateOf(part);
    if (state === 'done') return;
    if (this.#session === null) throw notConnected();
    // The session that began it ended, and the present one sees to it.
    if (state === 'underway') throw new MqttError('UNDERWAY', 'The message is on its way already.');
    const chat = chatIn(jid) ?? '';
    // An answer to it may come before the broker's word.
    this.#limit.answered(jid);
    await this.#session.publish(part, topicOutOf(this.#settings, chat), writePayload(text, chat));
  }

  #report(events: ChannelEvents, status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    events.onStatus(status);
  }
}

function notConnected(): MqttError {
  return new MqttError('NOT_CONNECTED', 'The broker is not connected; nothing was sent.');
}

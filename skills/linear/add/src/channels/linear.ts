import { LinearError, linearAt } from '../lib/linear/api.ts';
import { onNudge } from '../lib/linear/nudge.ts';
import { LinearEnvironment, type LinearSettings, linearOf } from '../lib/linear/settings.ts';
import { KEY_REFUSED, reasonOf, viewerOf } from '../lib/linear/viewer.ts';
import {
  type Channel,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  defineChannel,
  type OutboundMessage,
} from './channel.ts';
import { Connection } from './kit/connection.ts';
import type { PartStep } from './kit/edited-parts.ts';
import type { PartDelivery } from './kit/part-delivery.ts';
import type { ConnectFailure } from './kit/stay-connected.ts';
import { allowListProblem } from './linear/access.ts';
import { CAPABILITIES, createDelivery, isLinearJid } from './linear/delivery.ts';
import { Feed } from './linear/feed.ts';
import { openRecords, type Records } from './linear/records.ts';

/** Issues of Linear that are assigned to the assistant. Silent until LINEAR_API_KEY is set. */
export const channel = defineChannel({
  name: 'linear',
  needs: ['LINEAR_API_KEY'],
  settings: LinearEnvironment,
  create({ settings, openDatabase, ...context }) {
    const linear = linearOf(settings);
    if (linear === null) return null;
    const records = openRecords(openDatabase, context.clock.now);
    return new LinearChannel(linear, { ...context, records });
  },
});

type Parts = Pick<ChannelContext, 'clock' | 'dataDir'> & { readonly records: Records };

/** `refused` stays until the owner has changed a setting; in `connecting` it goes on trying by itself. */
class LinearChannel implements Channel {
  readonly name = 'linear';
  readonly allowSetting = 'LINEAR_ALLOW_FROM';
  readonly capabilities = CAPABILITIES;
  readonly #settings: LinearSettings;
  readonly #parts: Parts;
  readonly #ask;
  readonly #feed: Feed;
  readonly #connection: Connection;
  #delivery: PartDelivery<PartStep<string>> | null = null;
  #wake = new AbortController();

  constructor(settings: LinearSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#ask = linearAt(settings);
    this.#feed = new Feed({ ...parts, ask: this.#ask, settings });
    this.#connection = new Connection({
      title: 'Linear',
      clock: parts.clock,
      problem: allowListProblem(settings.allowFrom),
      explain: explainConnect,
      open: (events, signal) => this.#open(events, signal),
    });
  }

  async connect(events: ChannelEvents): Promise<void> {
    const { clock } = this.#parts;
    if (allowListProblem(this.#settings.allowFrom) === null) this.#feed.begin(clock.now());
    this.#delivery ??= this.#createDelivery();
    await this.#connection.connect(events);
  }

  async disconnect(): Promise<void> {
    const delivery = this.#delivery;
    this.#delivery = null;
    await Promise.all([this.#connection.disconnect(), delivery?.close()]);
  }

  async send(message: OutboundMessage): Promise<void> {
    if (this.#delivery === null)
      throw new Error('Linear is not connected; the message was not sent.');
    await this.#delivery.send(message);
  }

  /** Comments have no sign for it. */
  async setTyping(): Promise<void> {}

  ownsJid(jid: string): boolean {
    return isLinearJid(jid);
  }

  status(): ChannelStatus {
    return this.#connection.status();
  }

  answered(_jid: string, ids: readonly string[]): void {
    if (this.#feed.answered(ids)) this.#wake.abort();
  }

  chatAcknowledged(): void {
    if (this.#feed.allAnswered()) this.#wake.abort();
  }

  forgetChat(jid: string): void {
    this.#parts.records.sent.forgetChat(jid);
  }

  async #open(events: ChannelEvents, signal: AbortSignal) {
    const asked = this.#parts.clock.now();
    const me = await viewerOf(this.#ask, signal);
    this.#feed.setClock(me.serverTime === null ? 0 : me.serverTime - asked);
    await this.#feed.look(me.id, events, signal);
    return { closed: this.#goOnLooking(me.id, events, signal) };
  }

  async #goOnLooking(me: string, events: ChannelEvents, signal: AbortSignal): Promise<void> {
    const { clock, dataDir } = this.#parts;
    const ended = new AbortController();
    onNudge(dataDir, () => this.#wake.abort(), ended.signal);
    try {
      while (!signal.aborted) {
        await clock.pause(this.#settings.pollMs, AbortSignal.any([signal, this.#wake.signal]));
        this.#wake = new AbortController();
        if (!signal.aborted) await this.#feed.look(me, events, signal);
      }
    } finally {
      ended.abort();
    }
  }

  #createDelivery(): PartDelivery<PartStep<string>> {
    const { clock, records } = this.#parts;
    const checkConnected = () => {
      const { state, detail } = this.#connection.status();
      if (state !== 'connected')
        throw new Error(detail ?? 'Linear is not connected; the message was not sent.');
    };
    return createDelivery({ ask: this.#ask, clock, records, checkConnected });
  }
}

function explainConnect(error: unknown): ConnectFailure {
  const isKey = error instanceof LinearError && error.kind === 'key';
  if (isKey)
    return { status: { state: 'refused', detail: KEY_REFUSED }, isFinal: true, waitMs: null };
  const waitMs = error instanceof LinearError ? error.waitMs : null;
  const detail = `${reasonOf(error)} Trying again.`;
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs };
}

import type { REST } from '@discordjs/rest';
import type {
  ChannelClock,
  ChannelEvents,
  ChannelLog,
  ChannelStatus,
  ChatCommand,
  FetchedAttachment,
} from '../channel.ts';
import type { PartDelivery } from '../kit/part-delivery.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { openApi, patiently } from './api.ts';
import { createDelivery, type Sending, takeBack } from './delivery.ts';
import { fetchFile } from './files.ts';
import type { Dispatch } from './gateway/session.ts';
import { stayOnGateway } from './gateway/stay-connected.ts';
import { askWho, type Bot, NO_MESSAGE_CONTENT } from './identity.ts';
import { catchUp } from './inbound/catch-up.ts';
import { Inbox } from './inbound/inbox.ts';
import { Places } from './inbound/places.ts';
import { channelIdOf } from './jid.ts';
import type { Books } from './records/books.ts';
import type { FileReference } from './records/file-references.ts';
import type { DiscordSettings } from './settings.ts';
import { registerCommands, slashCommands } from './slash-commands.ts';

export type BotOptions = {
  readonly settings: DiscordSettings;
  readonly assistantName: string;
  readonly commands: readonly ChatCommand[];
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
  readonly books: Books;
  readonly sent: SentMessages;
  readonly events: ChannelEvents;
  readonly report: (status: ChannelStatus) => void;
};

/** The connection, from `connect` to `disconnect`. */
export type OpenBot = {
  readonly delivery: PartDelivery<Sending>;
  readonly takeBack: (jid: string, id: string) => Promise<void>;
  readonly fetchFile: (file: FileReference, folder: string) => Promise<FetchedAttachment>;
  readonly showTyping: (jid: string) => Promise<void>;
  /** Takes away the sign that the bot thinks, where a slash command got no answer. Never rejects. */
  readonly endUnanswered: (jid: string, ids: readonly string[]) => Promise<void>;
  /** Resolves with the first connection, or the first reason why there is none. */
  readonly firstOutcome: Promise<void>;
  readonly close: () => Promise<void>;
};

/** Connects to Discord, and stays connected until closed or refused. */
export function openBot(options: BotOptions): OpenBot {
  const { settings, clock, books, sent, report } = options;
  const api = openApi(settings);
  const stop = new AbortController();
  const { interactions, attempts } = books;
  const delivery = createDelivery({ api, clock, sent, attempts, interactions });
  /** The channel, or thread, in which somebody wrote last, by chat. */
  const heard = new Map<string, string>();
  const take = receiver(options, {
    api,
    signal: stop.signal,
    heardIn: (jid, channelId) => heard.set(jid, channelId),
  });
  const { promise: firstOutcome, resolve } = Promise.withResolvers<void>();
  const connected = stayOnGateway({
    api,
    token: settings.token,
    signal: stop.signal,
    clock,
    book: books.session,
    ...take,
    report(status) {
      report(status);
      resolve();
    },
  }).then(resolve);
  return {
    delivery,
    takeBack: (jid, id) => takeBack({ api, clock, sent, attempts }, { jid, id }, delivery.signal),
    fetchFile: (file, folder) => fetchFile({ api, folder, signal: stop.signal }, file),
    async showTyping(jid) {
      const channelId = heard.get(jid) ?? channelIdOf(jid);
      if (channelId === null) return;
      await api.post(`/channels/${channelId}/typing`, { signal: delivery.signal });
    },
    async endUnanswered(jid, ids) {
      for (const id of ids) {
        const open = interactions.of(jid, [id]);
        if (open === null) continue;
        interactions.close(jid, id);
        await api.delete(`${open.address}/messages/@original`, { auth: false }).catch(() => {
          // Discord takes it away by itself after a quarter of an hour.
        });
      }
    },
    firstOutcome,
    async close() {
      stop.abort();
      await Promise.all([connected, delivery.close()]);
      report({ state: 'stopped', detail: null });
    },
  };
}

/** Returns the facts about the bot that a connection needs, and its handlers of events. */
function receiver(
  { settings, commands, books, clock, log, ...options }: BotOptions,
  {
    api,
    signal,
    heardIn,
  }: {
    readonly api: REST;
    readonly signal: AbortSignal;
    readonly heardIn: (jid: string, channelId: string) => void;
  },
) {
  const { allowFrom, owner } = settings;
  const places = new Places(api, log);
  const inbox = new Inbox({ ...options, ...books, api, log, places, allowFrom, owner, heardIn });
  const store = (data: unknown) => inbox.take({ type: 'MESSAGE_CREATE', data });
  let bot: Bot | null = null;

  async function register(): Promise<void> {
    if (bot === null) return;
    const list = slashCommands(commands, owner !== null);
    const wanted = { applicationId: bot.applicationId, commands: list };
    await patiently(() => registerCommands(api, books.registered, wanted), { clock, signal });
  }

  return {
    async arrive() {
      bot = await askWho(api);
      inbox.arrive(bot.id);
      return bot.readsMessages;
    },
    connected: (readsMessages: boolean): ChannelStatus => ({
      state: 'connected',
      detail: readsMessages ? null : NO_MESSAGE_CONTENT,
    }),
    notice: (event: Dispatch) => inbox.notice(event),
    async take(event: Dispatch) {
      if (event.type !== 'READY') return await inbox.take(event);
      await catchUp({ api, seen: books.seen, clock, signal, store });
      await register().catch((error: unknown) => {
        if (!signal.aborted)
          log.warn('Discord did not take the commands', { cause: String(error) });
      });
    },
  };
}

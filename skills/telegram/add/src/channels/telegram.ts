import type { Update, UserFromGetMe } from 'grammy/types';
import { Api } from 'grammy/web';
import {
  type Channel,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  type ChatCommand,
  defineChannel,
  type FetchedAttachment,
  type OutboundDraft,
  type OutboundMessage,
} from './channel.ts';
import { isAllowed } from './kit/allow-list.ts';
import { dropFetched } from './kit/fetched-file.ts';
import type { PartDelivery } from './kit/part-delivery.ts';
import { openSentMessages, type SentMessages } from './kit/sent-messages.ts';
import { allowListProblem } from './telegram/access.ts';
import { fileOf } from './telegram/content.ts';
import {
  CAPABILITIES,
  createDelivery,
  messageOf,
  type Sending,
  showTyping,
  takeBack,
} from './telegram/delivery.ts';
import { TelegramError } from './telegram/failure.ts';
import {
  FILE_MIGRATIONS,
  type FileReferences,
  fetchedFolder,
  fetchFile,
  openFileReferences,
} from './telegram/files.ts';
import { isTelegramJid, jidOf } from './telegram/jid.ts';
import { menusOf, showMenus } from './telegram/menu.ts';
import { chatNameOf, readMessage } from './telegram/message.ts';
import { pollUpdates } from './telegram/polling.ts';
import { choiceIn, showOutcome } from './telegram/press.ts';
import { explainPrivacy } from './telegram/privacy.ts';
import { reactionIn } from './telegram/reaction.ts';
import { botOf, TelegramEnvironment, type TelegramSettings } from './telegram/settings.ts';

/** A request is given up a little after the far end should have closed the longest poll. */
const LONG_POLL_SECONDS = 30;
const REQUEST_SECONDS = LONG_POLL_SECONDS + 15;
/** For a file of 50 MB over a slow line; the host asks again meanwhile, and waits for the same request. */
const UPLOAD_SECONDS = 300;

/** Telegram through a bot of the owner's, by long polling. Silent until TELEGRAM_BOT_TOKEN is set. */
export const channel = defineChannel({
  name: 'telegram',
  needs: ['TELEGRAM_BOT_TOKEN'],
  settings: TelegramEnvironment,
  create({ settings, log, clock, dataDir, openDatabase, commands = [] }) {
    const bot = botOf(settings);
    if (bot === null) return null;
    const sent = openSentMessages(openDatabase, clock.now, FILE_MIGRATIONS);
    const files = openFileReferences(openDatabase, clock.now);
    return new TelegramChannel(bot, { log, clock, dataDir, commands, sent, files });
  },
});

type Parts = Pick<ChannelContext, 'log' | 'clock' | 'dataDir'> & {
  readonly commands: readonly ChatCommand[];
  readonly sent: SentMessages;
  readonly files: FileReferences;
};

/** The connection, from `connect` to `disconnect`. */
type Connection = {
  readonly events: ChannelEvents;
  readonly stop: AbortController;
  /** Resolves when the last message in hand is stored. */
  readonly polling: Promise<void>;
  /** Resolves when the menus of commands are shown, or cannot be. */
  readonly menus: Promise<void>;
  readonly delivery: PartDelivery<Sending>;
  readonly api: Api;
};

/**
 * `refused` stays until the owner has changed a setting and restarted; in `connecting` and `failed`
 * the channel goes on trying by itself.
 */
class TelegramChannel implements Channel {
  readonly name = 'telegram';
  readonly allowSetting = 'TELEGRAM_ALLOW_FROM';
  readonly capabilities = CAPABILITIES;
  readonly #settings: TelegramSettings;
  readonly #parts: Parts;
  #status: ChannelStatus = { state: 'stopped', detail: null };
  #connection: Connection | null = null;

  constructor(settings: TelegramSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  async connect(events: ChannelEvents): Promise<void> {
    if (this.#connection !== null) return;
    const problem = allowListProblem(this.#settings.allowFrom);
    if (problem !== null) {
      this.#report(events, { state: 'refused', detail: problem });
      return;
    }
    this.#report(events, { state: 'connecting', detail: null });
    const { token, apiRoot } = this.#settings;
    const { log, clock, sent, dataDir } = this.#parts;
    dropFetched(fetchedFolder(dataDir));
    const api = new Api(token, { apiRoot, timeoutSeconds: REQUEST_SECONDS });
    const uploads = new Api(token, { apiRoot, timeoutSeconds: UPLOAD_SECONDS });
    const stop = new AbortController();
    const { promise: outcome, resolve } = Promise.withResolvers<void>();
    const { promise: isIn, resolve: comeIn } = Promise.withResolvers<void>();
    const polling = pollUpdates({
      api,
      signal: stop.signal,
      longPollSeconds: LONG_POLL_SECONDS,
      log,
      clock,
      take: this.#inbox(events, { api, signal: stop.signal }),
      report: (status) => {
        this.#report(events, status);
        if (status.state === 'connected') comeIn();
        resolve();
      },
    });
    const delivery = createDelivery({ api, uploads, clock, sent });
    const menus = isIn.then(() => this.#showMenus(api, stop.signal));
    this.#connection = { events, stop, polling, menus, api, delivery };
    // Also where the far end is given up before it has said anything.
    polling.then(resolve).then(comeIn);
    await outcome;
  }

  async disconnect(): Promise<void> {
    const connection = this.#connection;
    if (connection === null) return;
    this.#connection = null;
    const { events, stop, polling, menus, delivery } = connection;
    stop.abort();
    await Promise.all([polling, menus, delivery.close()]);
    this.#report(events, { state: 'stopped', detail: null });
  }

  async send(message: OutboundMessage): Promise<void> {
    if (this.#connection === null) throw notConnected();
    await this.#connection.delivery.send(message);
  }

  draft(draft: OutboundDraft): Promise<void> {
    return this.send(messageOf(draft));
  }

  async takeBack(jid: string, id: string): Promise<void> {
    if (this.#connection === null) throw notConnected();
    const { api, delivery } = this.#connection;
    await takeBack({ api, sent: this.#parts.sent }, { jid, id }, delivery.signal);
  }

  async fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    const { files, dataDir } = this.#parts;
    const file = files.of(jid, messageId);
    if (file === null) {
      const text = `The file of message ${messageId} is not known any more. Ask for it to be sent again.`;
      throw new TelegramError('FILE_UNKNOWN', text);
    }
    if (this.#connection === null) {
      const text = 'The file could not be fetched: Telegram is not connected.';
      throw new TelegramError('NOT_CONNECTED', text);
    }
    const { api, stop } = this.#connection;
    const folder = fetchedFolder(dataDir);
    return await fetchFile({ api, bot: this.#settings, folder, signal: stop.signal }, file);
  }

  forgetChat(jid: string): void {
    this.#parts.sent.forgetChat(jid);
    this.#parts.files.forgetChat(jid);
  }

  /** Telegram shows it for five seconds, or until the next message; there is no way to take it back. */
  async setTyping(jid: string, isTyping: boolean): Promise<void> {
    if (!isTyping || this.#connection === null) return;
    const { api, delivery } = this.#connection;
    await showTyping(api, jid, delivery.signal);
  }

  ownsJid(jid: string): boolean {
    return isTelegramJid(jid);
  }

  status(): ChannelStatus {
    return this.#status;
  }

  async #showMenus(api: Api, signal: AbortSignal): Promise<void> {
    const { commands, clock, log } = this.#parts;
    if (commands.length === 0) return;
    await showMenus(menusOf(commands, this.#settings.owner), { api, clock, log, signal });
  }

  /** Hands one update to the host. Rejects when the host did not store it; it must then come again. */
  #inbox(
    events: ChannelEvents,
    { api, signal }: { readonly api: Api; readonly signal: AbortSignal },
  ): (update: Update, me: UserFromGetMe) => Promise<void> {
    const { allowFrom, owner } = this.#settings;
    const reported = new Map<string, string | null>();
    const reportChat = async (chat: Parameters<typeof chatNameOf>[0]) => {
      const known = {
        jid: jidOf(chat.id),
        name: chatNameOf(chat),
        isDirect: chat.type === 'private',
        // A private chat has its person's id.
        ...(String(chat.id) === owner ? { isOwners: true } : {}),
      };
      if (reported.get(known.jid) === known.name) return;
      await events.onChat(known);
      reported.set(known.jid, known.name);
    };
    return async (update, me) => {
      const { message, my_chat_member: membership, callback_query: press } = update;
      const from =
        message?.from ?? membership?.from ?? press?.from ?? update.message_reaction?.user;
      if (from === undefined || from.is_bot) return;
      if (!isAllowed(allowFrom, from.id)) {
        if (message?.chat.type === 'private') await events.onStranger?.(String(from.id));
        return;
      }
      if (membership !== undefined) {
        const { status } = membership.new_chat_member;
        if (status !== 'left' && status !== 'kicked') await reportChat(membership.chat);
        await explainPrivacy({ api, signal, log: this.#parts.log }, membership, me);
      }
      const reaction = reactionIn(update.message_reaction, this.#parts.sent, owner);
      if (reaction !== null) await events.onReaction?.(reaction);
      const choice = press === undefined ? null : choiceIn(press, owner);
      if (press !== undefined && choice !== null) {
        const outcome = (await events.onChoice?.(choice)) ?? 'closed';
        await showOutcome(api, press, { outcome, signal });
      }
      if (message !== undefined) {
        await reportChat(message.chat);
        const inbound = readMessage(message, me, { owner, commands: this.#parts.commands });
        if (inbound === null) return;
        const file = fileOf(message);
        if (file !== null) this.#parts.files.keep(inbound.jid, inbound.id, file.reference);
        await events.onMessage(inbound);
      }
    };
  }

  #report(events: ChannelEvents, status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    events.onStatus(status);
  }
}

function notConnected(): TelegramError {
  const text = 'Telegram is not connected; the message was not sent.';
  return new TelegramError('NOT_CONNECTED', text);
}

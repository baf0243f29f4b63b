import type { Message, Update, UserFromGetMe } from 'grammy/types';
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
  type Person,
} from './channel.ts';
import { isAllowed } from './kit/allow-list.ts';
import { dropFetched } from './kit/fetched-file.ts';
import type { PartDelivery } from './kit/part-delivery.ts';
import { openSentMessages, type SentMessages } from './kit/sent-messages.ts';
import { allowListProblem, phoneProblem, readUser } from './telegram/access.ts';
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
import {
  chatNameOf,
  type Readable,
  type Reading,
  readEdit,
  readMessage,
} from './telegram/message.ts';
import { pollUpdates } from './telegram/polling.ts';
import { choiceIn, showOutcome } from './telegram/press.ts';
import { explainPrivacy } from './telegram/privacy.ts';
import { reactionIn } from './telegram/reaction.ts';
import { botOf, TelegramEnvironment, type TelegramSettings } from './telegram/settings.ts';
import { openTopics, TOPIC_MIGRATIONS, type Topics } from './telegram/topics.ts';
import {
  emptyInbox,
  INBOX_MIGRATIONS,
  openUpdateInbox,
  type UpdateInbox,
} from './telegram/update-inbox.ts';
import { receiveUpdates, webhookRoute } from './telegram/webhook.ts';

/** A request is given up a little after the far end should have closed the longest poll. */
const LONG_POLL_SECONDS = 30;
const REQUEST_SECONDS = LONG_POLL_SECONDS + 15;
/** For a file of 50 MB over a slow line; the host asks again meanwhile, and waits for the same request. */
const UPLOAD_SECONDS = 300;

/** Telegram through a bot of the owner's, by long polling, or by a webhook where TELEGRAM_WEBHOOK_URL is set. Silent until TELEGRAM_BOT_TOKEN is set. */
export const channel = defineChannel({
  name: 'telegram',
  needs: ['TELEGRAM_BOT_TOKEN'],
  settings: TelegramEnvironment,
  create({ settings, log, clock, dataDir, openDatabase, commands = [] }) {
    const bot = botOf(settings);
    if (bot === null) return null;
    const sent = openSentMessages(openDatabase, clock.now, [
      ...FILE_MIGRATIONS,
      ...TOPIC_MIGRATIONS,
      ...INBOX_MIGRATIONS,
    ]);
    const files = openFileReferences(openDatabase, clock.now);
    const topics = openTopics(openDatabase);
    const inbox = openUpdateInbox(openDatabase, clock.now, bot.token);
    return new TelegramChannel(bot, { log, clock, dataDir, commands, sent, files, topics, inbox });
  },
});

type Parts = Pick<ChannelContext, 'log' | 'clock' | 'dataDir'> & {
  readonly commands: readonly ChatCommand[];
  readonly sent: SentMessages;
  readonly files: FileReferences;
  readonly topics: Topics;
  readonly inbox: UpdateInbox;
};

/** The connection, from `connect` to `disconnect`. */
type Connection = {
  readonly events: ChannelEvents;
  readonly stop: AbortController;
  /** Polling, or taking what a webhook brings. Resolves when the last message in hand is stored. */
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
  /** The route of the webhook is there until the assistant stops. */
  #hasRoute = false;

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
    const { token, apiRoot, webhook } = this.#settings;
    const { log, clock, sent, dataDir, inbox } = this.#parts;
    if (webhook !== null && !(await this.#openRoute(events))) return;
    dropFetched(fetchedFolder(dataDir));
    const api = new Api(token, { apiRoot, timeoutSeconds: REQUEST_SECONDS });
    const uploads = new Api(token, { apiRoot, timeoutSeconds: UPLOAD_SECONDS });
    const stop = new AbortController();
    const { promise: outcome, resolve } = Promise.withResolvers<void>();
    const { promise: isIn, resolve: comeIn } = Promise.withResolvers<void>();
    const { signal } = stop;
    const take = this.#inbox(events, { api, signal });
    const parts = {
      api,
      signal,
      log,
      clock,
      report: (status: ChannelStatus) => {
        this.#report(events, status);
        if (status.state === 'connected') comeIn();
        resolve();
      },
    };
    const polling =
      webhook === null
        ? pollUpdates({
            ...parts,
            longPollSeconds: LONG_POLL_SECONDS,
            before: (me) => emptyInbox({ inbox, me, signal, clock, log, take }),
            // An update that a webhook brought comes again where Telegram did not hear that it was stored.
            take: async (updates, me) => {
              const unknown = updates.filter(({ update_id: id }) => !inbox.isKnown(id));
              if (unknown.length > 0) await take(unknown, me);
            },
          })
        : receiveUpdates({ ...parts, take, inbox, token, address: webhook });
    const delivery = createDelivery({
      api,
      uploads,
      clock,
      sent,
      onMoved: (from, to) => moved(events, from, to),
    });
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

  /** A person's id is the id of their chat with the bot. */
  personOf(typed: string): Person | null {
    const user = readUser(typed);
    if (user.kind !== 'id') return null;
    const { id, isGuess } = user;
    return { sender: id, chat: jidOf(Number(id)), ...(isGuess ? { isGuess } : {}) };
  }

  missingIn(typed: string): string | null {
    return phoneProblem(typed);
  }

  status(): ChannelStatus {
    return this.#status;
  }

  /** Returns false where Telegram has no way in; the status then says why. */
  async #openRoute(events: ChannelEvents): Promise<boolean> {
    if (this.#hasRoute) return true;
    const { token } = this.#settings;
    const { inbox, log } = this.#parts;
    try {
      const route = await events.route?.(webhookRoute(token, inbox));
      if (route === undefined) throw new Error('the assistant has no HTTP server');
      this.#hasRoute = true;
      log.info('Telegram’s updates are taken here', { url: route.url });
      return true;
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      const detail = `The address for Telegram's webhook could not be opened (${cause}). Take TELEGRAM_WEBHOOK_URL out of .env to poll instead.`;
      this.#report(events, { state: 'refused', detail });
      return false;
    }
  }

  async #showMenus(api: Api, signal: AbortSignal): Promise<void> {
    const { commands, clock, log } = this.#parts;
    if (commands.length === 0) return;
    await showMenus(menusOf(commands, this.#settings.owner), { api, clock, log, signal });
  }

  /** Hands an update, or those of an album, to the host. Rejects when the host did not store it; it must then come again. */
  #inbox(
    events: ChannelEvents,
    { api, signal }: { readonly api: Api; readonly signal: AbortSignal },
  ): (updates: readonly Update[], me: UserFromGetMe) => Promise<void> {
    const { allowFrom, owner } = this.#settings;
    const { commands, files, topics, sent, log } = this.#parts;
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
    const readingOf = (me: UserFromGetMe): Reading => ({
      me,
      owner,
      commands,
      topicName: topics.nameOf,
      hasFile: (jid, id) => files.of(jid, id) !== null,
    });
    const takeMessages = async (messages: readonly Message[], me: UserFromGetMe) => {
      const read: Readable[] = [];
      for (const message of messages) {
        await reportChat(message.chat);
        const readable = readMessage(message, readingOf(me));
        if (readable !== null) read.push(readable);
      }
      for (const { message, file } of asOneTurn(read)) {
        if (file !== null) files.keep(message.jid, message.id, file.reference);
        await events.onMessage(message);
      }
    };
    const takeOther = async (update: Update, me: UserFromGetMe) => {
      const { my_chat_member: membership, callback_query: press, edited_message: edited } = update;
      if (membership !== undefined) {
        const { status } = membership.new_chat_member;
        if (status !== 'left' && status !== 'kicked') await reportChat(membership.chat);
        await explainPrivacy({ api, signal, log }, membership, me);
      }
      const reaction = reactionIn(update.message_reaction, sent, owner);
      if (reaction !== null) await events.onReaction?.(reaction);
      const choice = press === undefined ? null : choiceIn(press, owner);
      if (press !== undefined && choice !== null) {
        const outcome = (await events.onChoice?.(choice)) ?? 'closed';
        await showOutcome(api, press, { outcome, signal });
      }
      const edit = edited === undefined ? null : readEdit(edited, readingOf(me));
      if (edit !== null) await events.onMessage(edit);
    };
    return async (updates, me) => {
      const messages: Message[] = [];
      for (const update of updates) {
        const { message } = update;
        if (message !== undefined) topics.learn(message);
        // Telegram says so itself, whoever has made the group larger.
        if (message?.migrate_to_chat_id !== undefined) {
          await moved(events, jidOf(message.chat.id), jidOf(message.migrate_to_chat_id));
          continue;
        }
        if (message?.migrate_from_chat_id !== undefined) {
          await moved(events, jidOf(message.migrate_from_chat_id), jidOf(message.chat.id));
          continue;
        }
        const from = senderOf(update);
        if (from === undefined || from.is_bot) continue;
        if (!isAllowed(allowFrom, from.id)) {
          if (message?.chat.type === 'private') await events.onStranger?.(String(from.id));
          continue;
        }
        if (message === undefined) await takeOther(update, me);
        else messages.push(message);
      }
      await takeMessages(messages, me);
    };
  }

  #report(events: ChannelEvents, status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    events.onStatus(status);
  }
}

function senderOf(update: Update) {
  const { message, edited_message: edited, my_chat_member: membership } = update;
  const { callback_query: press, message_reaction: reaction } = update;
  return message?.from ?? edited?.from ?? membership?.from ?? press?.from ?? reaction?.user;
}

/** A group that became a supergroup has another id, and counts its messages anew. */
async function moved(events: ChannelEvents, from: string, to: string): Promise<void> {
  await events.onSameChat?.(from, to, { countsAnew: true });
}

/**
 * Returns the parts of an album so that one of them asks, with all pictures before it: the one with words, else the last.
 */
function asOneTurn(read: readonly Readable[]): readonly Readable[] {
  const asking = read.find(({ message }) => message.text !== '') ?? read.at(-1);
  if (asking === undefined) return [];
  const others = read
    .filter((one) => one !== asking)
    .map(({ message, file }) => ({ message: { ...message, isContext: true }, file }));
  return [...others, asking];
}

function notConnected(): TelegramError {
  const text = 'Telegram is not connected; the message was not sent.';
  return new TelegramError('NOT_CONNECTED', text);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  FarServer,
  OrderedFaults,
  readBytes,
  sendJson,
  sendRawJson,
} from '../../../src/testing/channel/far-server.ts';
import { BotApiFiles, type DownloadFailure } from './bot-api-files.ts';
import { type Entity, findEntities, HtmlError, parseHtml } from './bot-api-text.ts';

/** Users, chats and answers have the Bot API's own shapes. */
export type BotApiUser = {
  readonly id: number;
  readonly first_name: string;
  readonly last_name?: string;
  readonly username?: string;
  readonly is_bot?: boolean;
};
export type BotApiChat = {
  readonly id: number;
  readonly type: 'private' | 'group' | 'supergroup';
  readonly title?: string;
};
export type BotApiError = {
  readonly error_code: number;
  readonly description: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
};

/** A message of the bot as people see it: `text` without markup, and the entities in it. */
export type SentMessage = {
  readonly message_id: number;
  readonly chatId: number;
  readonly text: string;
  readonly entities: readonly Entity[];
  /** As the bot wrote it. */
  readonly source: string;
  readonly parseMode: string | null;
  /** Buttons below it, until the bot takes them away. */
  buttons: readonly Button[];
  readonly replyTo?: number;
  readonly thread?: number;
  readonly file?: { readonly name: string; readonly text: string };
};

export type Button = { readonly text: string; readonly callback_data: string };

type Payload = Readonly<Record<string, unknown>>;
type Update = { readonly update_id: number } & Payload;
type Call = { readonly method: string; readonly payload: Payload };
type Failure = NonNullable<DownloadFailure>;
/** A webhook as it was set, and why the last delivery failed. */
type Webhook = { readonly url: string; readonly secret?: string; readonly problem?: string };
type Poll = { readonly answer: (result: readonly Update[] | BotApiError) => void };

const METHODS = [
  'getFile',
  'getMe',
  'getChat',
  'getUpdates',
  'deleteWebhook',
  'setWebhook',
  'getWebhookInfo',
  'sendMessage',
  'editMessageText',
  'deleteMessage',
  'sendDocument',
  'sendPhoto',
  'sendVoice',
  'setMessageReaction',
  'sendChatAction',
  'answerCallbackQuery',
  'editMessageReplyMarkup',
  'getMyCommands',
  'setMyCommands',
];

/**
 * Telegram's side of the Bot API for one bot, on loopback, by Node's built-ins alone.
 *
 * Updates wait until a `getUpdates` names a higher offset, also while the server is down. A second
 * `getUpdates` ends the first with 409, as with Telegram; markup that it could not parse gets 400.
 */
export class BotApi extends FarServer<Call> {
  readonly bot: Required<BotApiUser>;
  readonly sent: SentMessage[] = [];
  /** Notices of the bot about presses; null for none. */
  readonly told: (string | null)[] = [];
  /** Menus of commands, by the scope in which they are shown. */
  readonly menus = new Map<string, readonly unknown[]>();
  /** Reactions of the bot, by message. */
  readonly reactions = new Map<number, readonly unknown[]>();
  /** Files that people have sent. */
  readonly files = new BotApiFiles();
  /** Updates that the bot has not confirmed. */
  readonly pending: Update[] = [];
  /** An empty answer comes at once, as from a gateway that holds no request back. */
  isHasty = false;
  /** Updates that the bot has confirmed come again and again. */
  isForgetful = false;
  /** People who have blocked the bot. */
  readonly blockedBy = new Set<number>();
  /** Messages of people that they have taken back, of which Telegram tells a bot nothing. */
  readonly takenBack = new Set<number>();
  /** Topics that were deleted. */
  readonly goneTopics = new Set<number>();
  /** Groups that became supergroups, with their new ids. */
  readonly migrated = new Map<number, number>();
  /** The bytes that answer the next request for updates, and whether the line is cut after them. */
  nextBytes: { readonly bytes: Buffer; readonly isCut: boolean } | null = null;
  #token: string;
  readonly #chats = new Map<number, BotApiChat>();
  readonly #faults = new OrderedFaults<string, Failure>();
  /** Leads a public address to where its web server hands a request over. */
  readonly publicAddresses = new Map<string, string>();
  /** The number of updates that were delivered to a webhook, taken or not. */
  deliveries = 0;
  /** The next delivery is taken, and its answer is lost. */
  losesNextDelivery = false;
  #poll: Poll | null = null;
  #webhook: Webhook = { url: '' };
  #isDelivering = false;
  #allowed: readonly string[] = [];
  #nextUpdate = 100;
  #nextMessage = 1;

  constructor(token: string, username: string) {
    super();
    this.#token = token;
    const id = Number(token.split(':')[0]);
    this.bot = { id, is_bot: true, first_name: 'Andy', last_name: '', username };
  }

  override async goDown(): Promise<void> {
    this.#poll = null;
    await super.goDown();
  }

  /** Somebody writes a text; answers with the id of the message. `more` is added to the message. */
  sendText(from: BotApiUser, chat: BotApiChat, text: string, more: Payload = {}): number {
    const entities = findEntities(text);
    return this.sendContent(from, chat, {
      text,
      ...(entities.length > 0 && { entities }),
      ...more,
    });
  }

  /** Somebody sends something that is not text, or not only. */
  sendContent(from: BotApiUser, chat: BotApiChat, content: Payload): number {
    const message = { ...this.#message(chat), from: { is_bot: false, ...from }, ...content };
    this.push({ message });
    return message.message_id;
  }

  /** Somebody sends a photo, with a caption or without. */
  sendPhoto(from: BotApiUser, chat: BotApiChat, content: Uint8Array, caption?: string): number {
    const photo = this.files.uploadPhoto(content);
    return this.sendContent(from, chat, { photo, ...(caption === undefined ? {} : { caption }) });
  }

  /** Somebody presses the button with that text below a message of the bot's. */
  press(from: BotApiUser, { message_id, chatId, buttons }: SentMessage, text: string): number {
    const data = buttons.find((button) => button.text === text)?.callback_data;
    const chat = this.#chats.get(chatId);
    const message = { message_id, date: 1, chat, from: this.bot };
    const id = String(this.#nextUpdate);
    const pressed = { id, from: { is_bot: false, ...from }, message, chat_instance: '1', data };
    return this.push({ callback_query: pressed });
  }

  /** Somebody has these emojis on a message of the bot's now. */
  reactTo(
    user: BotApiUser,
    { message_id, chatId }: Pick<SentMessage, 'message_id' | 'chatId'>,
    ...emojis: readonly string[]
  ): number {
    const of = (emoji: string) => ({ type: 'emoji', emoji });
    const chat = this.#chats.get(chatId);
    return this.push({
      message_reaction: {
        chat,
        message_id,
        user: { is_bot: false, ...user },
        date: 1,
        old_reaction: [],
        new_reaction: emojis.map(of),
      },
    });
  }

  /** The owner has revoked the token at BotFather. */
  revoke(): void {
    this.#token = `${this.#token.split(':')[0]}:AAanother`;
    this.#poll?.answer([]);
  }

  /** Answers the next requests with these bytes, for as much as they hold. */
  sendBytes(bytes: Buffer, isCut: boolean): void {
    this.nextBytes = { bytes, isCut };
    this.#poll?.answer([]);
  }

  /** A number for an update that `sendBytes` makes up. */
  takeUpdateId(): number {
    return this.#nextUpdate++;
  }

  /** Any update: `{ edited_message }`, `{ my_chat_member }`. */
  push(update: Payload): number {
    const update_id = this.#nextUpdate++;
    this.pending.push({ update_id, ...update });
    this.#poll?.answer([]);
    void this.#deliver();
    return update_id;
  }

  /** Private chats of the bot: of those who have written to it. */
  readonly met = new Map<number, BotApiChat & { readonly first_name?: string }>();
  /** The webhook that is set, as `getWebhookInfo` has it. */
  get webhook(): Webhook {
    return this.#webhook;
  }

  /** Another program sets a webhook of its own; empty for none. */
  setForeignWebhook(url: string): void {
    this.#webhook = { url, secret: 'another' };
  }

  /** Delivers what waits one after the other, and what was not taken again and again, as Telegram does. */
  async #deliver(): Promise<void> {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (;;) {
      const next = this.pending.find((update) => this.#isAllowed(update));
      const { url, secret = '' } = this.#webhook;
      const address = this.publicAddresses.get(url);
      if (next === undefined || url === '' || !this.isUp) break;
      const problem =
        address === undefined ? 'Connection refused' : await this.#post(address, secret, next);
      if (problem === null) {
        const index = this.pending.indexOf(next);
        if (index !== -1) this.pending.splice(index, 1);
        continue;
      }
      if (this.#webhook.url !== url) continue;
      this.#webhook = { ...this.#webhook, problem };
      await delay(5);
    }
    this.#isDelivering = false;
  }

  /** Returns why Telegram counts a delivery as failed; null where it was taken. */
  async #post(address: string, secret: string, update: Update): Promise<string | null> {
    this.deliveries += 1;
    const headers = {
      'content-type': 'application/json',
      'x-telegram-bot-api-secret-token': secret,
    };
    try {
      const body = JSON.stringify(update);
      const { ok, status, statusText } = await fetch(address, { method: 'POST', headers, body });
      const isLost = ok && this.losesNextDelivery;
      if (isLost) this.losesNextDelivery = false;
      if (isLost) return 'Connection timed out';
      return ok ? null : `Wrong response from the webhook: ${status} ${statusText}`;
    } catch {
      return 'Connection refused';
    }
  }

  /** The next request of that method, or the one that many later, gets this error instead. */
  failNext(method: string, error: BotApiError, later = 0): void {
    this.#faults.order((asked) => asked === method, error, later);
  }

  /** The next request of that method is answered by a gateway in between, with a page of its own. */
  blockNext(method: string): void {
    this.#faults.order((asked) => asked === method, 'page');
  }

  /** The next file that is asked for is said to be at another address. */
  redirectNextFile(): void {
    this.#faults.order((asked) => asked === 'file', 'elsewhere');
  }

  /** The next request of that method is carried out, and the line is cut instead of an answer. */
  loseNext(method: string): void {
    this.#faults.order((asked) => asked === method, 'cut');
  }

  #message(chat: BotApiChat) {
    this.#chats.set(chat.id, chat);
    return { message_id: this.#nextMessage++, date: Math.floor(Date.now() / 1_000), chat };
  }

  protected override async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(pathname);
    if (file !== null) {
      const isKnown = file[1] === this.#token;
      const failure = isKnown ? this.#faults.next('file') : fault(404, 'Not Found');
      this.files.give(decodeURIComponent(file[2] ?? ''), response, failure);
      return;
    }
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(pathname) ?? [];
    const payload = { ...Object.fromEntries(searchParams), ...(await readBody(request)) };
    const answer = (outcome: { result: unknown } | BotApiError) => {
      const made = method === 'getUpdates' ? this.nextBytes : null;
      if (made !== null) {
        this.nextBytes = null;
        sendRawJson(response, made.bytes, made.isCut);
        return;
      }
      if ('result' in outcome) sendJson(response, { ok: true, ...outcome });
      else sendJson(response, { ok: false, ...outcome }, { status: outcome.error_code });
    };
    if (!/^\d+:[\w-]+$/.test(token)) return answer(fault(404, 'Not Found'));
    if (token !== this.#token) return answer(fault(401, 'Unauthorized'));
    if (!METHODS.includes(method)) return answer(fault(404, 'Not Found: method not found'));
    this.calls.push({ method, payload });
    const failure = this.#faults.next(method);
    if (failure === 'page') {
      response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway</h1>');
      return;
    }
    if (typeof failure === 'object' && failure !== null) return answer(failure);
    if (method === 'getUpdates') return this.#getUpdates(payload, response, answer);
    const outcome = this.#perform(method, payload);
    if (failure === 'cut') response.destroy();
    else answer(outcome);
  }

  #perform(method: string, payload: Payload): { result: unknown } | BotApiError {
    switch (method) {
      case 'getMe':
        return {
          result: { ...this.bot, can_join_groups: true, can_read_all_group_messages: false },
        };
      case 'getChat': {
        const chat = this.met.get(Number(payload['chat_id']));
        return chat === undefined ? fault(400, 'Bad Request: chat not found') : { result: chat };
      }
      case 'getFile':
        return this.files.find(String(payload['file_id']));
      case 'setWebhook':
      case 'deleteWebhook':
        return this.#setWebhook(payload);
      case 'getWebhookInfo':
        return { result: this.#webhookInfo() };
      case 'answerCallbackQuery':
        this.told.push(payload['text'] === undefined ? null : String(payload['text']));
        return { result: true };
      case 'editMessageReplyMarkup':
        return this.#chatOf(payload) ?? this.#editButtons(payload);
      case 'getMyCommands':
        return { result: this.menus.get(JSON.stringify(payload['scope'])) ?? [] };
      case 'setMyCommands':
        return this.#setMenu(payload);
      case 'sendChatAction':
        return this.#chatOf(payload) ?? { result: true };
      case 'editMessageText':
        return this.#chatOf(payload) ?? this.#editMessage(payload);
      case 'deleteMessage':
        return this.#chatOf(payload) ?? this.#deleteMessage(payload);
      case 'sendDocument':
        return this.#chatOf(payload) ?? this.#sendFile(payload, 'document');
      case 'sendPhoto':
        return this.#chatOf(payload) ?? this.#sendFile(payload, 'photo');
      case 'sendVoice':
        return this.#chatOf(payload) ?? this.#sendFile(payload, 'voice');
      case 'setMessageReaction':
        return this.#chatOf(payload) ?? this.#react(payload);
      default:
        return this.#chatOf(payload) ?? this.#sendMessage(payload);
    }
  }

  #setWebhook(payload: Payload): { result: unknown } | BotApiError {
    const url = String(payload['url'] ?? '');
    if (url !== '' && !url.startsWith('https://')) {
      return fault(400, 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook');
    }
    const secret = String(payload['secret_token'] ?? '');
    if (!/^[\w-]{0,256}$/.test(secret)) {
      return fault(400, 'Bad Request: secret token contains unallowed characters');
    }
    this.#webhook = { url, secret };
    if (Array.isArray(payload['allowed_updates'])) this.#allowed = payload['allowed_updates'];
    if (payload['drop_pending_updates'] === true) this.pending.length = 0;
    void this.#deliver();
    return { result: true };
  }

  #webhookInfo() {
    const { url, problem } = this.#webhook;
    return {
      url,
      has_custom_certificate: false,
      pending_update_count: this.pending.length,
      ...(this.#allowed.length === 0 ? {} : { allowed_updates: this.#allowed }),
      ...(problem === undefined ? {} : { last_error_date: 1, last_error_message: problem }),
    };
  }

  #setMenu({ scope, commands }: Payload): { result: unknown } | BotApiError {
    const list = commands as { command: string; description: string }[];
    if (list.length > 100) return fault(400, 'Bad Request: BOT_COMMANDS_TOO_MUCH');
    for (const { command, description } of list) {
      if (!/^[a-z0-9_]{1,32}$/.test(command)) return fault(400, 'Bad Request: BOT_COMMAND_INVALID');
      if (description === '' || description.length > 256) {
        return fault(400, 'Bad Request: BOT_COMMAND_DESCRIPTION_INVALID');
      }
    }
    const { chat_id: chat } = scope as { chat_id?: number };
    if (chat !== undefined && !this.#chats.has(chat))
      return fault(400, 'Bad Request: chat not found');
    this.menus.set(JSON.stringify(scope), list);
    return { result: true };
  }

  #chatOf(payload: Payload): BotApiError | null {
    const chatId = Number(payload['chat_id']);
    if (this.blockedBy.has(chatId)) return fault(403, 'Forbidden: bot was blocked by the user');
    const reply = placeOf(payload).replyTo;
    if (reply !== undefined && this.takenBack.has(reply) && !isTolerant(payload)) {
      return fault(400, 'Bad Request: message to be replied not found');
    }
    const movedTo = this.migrated.get(chatId);
    if (movedTo !== undefined) {
      const description = 'Bad Request: group chat was upgraded to a supergroup chat';
      return { ...fault(400, description), parameters: { migrate_to_chat_id: movedTo } };
    }
    if (this.goneTopics.has(Number(payload['message_thread_id']))) {
      return fault(400, 'Bad Request: message thread not found');
    }
    return this.#chats.has(chatId) ? null : fault(400, 'Bad Request: chat not found');
  }

  #editButtons(payload: Payload): { result: unknown } | BotApiError {
    const meant = Number(payload['message_id']);
    const message = this.sent.find(({ message_id }) => message_id === meant);
    if (message === undefined) return fault(400, 'Bad Request: message to edit not found');
    const buttons = buttonsIn(payload);
    if (buttons.length === 0 && message.buttons.length === 0) {
      return fault(400, 'Bad Request: message is not modified');
    }
    message.buttons = buttons;
    return { result: true };
  }

  #editMessage(payload: Payload): { result: unknown } | BotApiError {
    const index = this.sent.findIndex(({ message_id: id }) => id === Number(payload['message_id']));
    const earlier = this.sent[index];
    if (earlier === undefined) return fault(400, 'Bad Request: message to edit not found');
    if (earlier.source === payload['text']) {
      return fault(400, 'Bad Request: message is not modified: specified new message content …');
    }
    const made = this.#sendMessage(payload);
    const edited = 'result' in made ? this.sent.pop() : undefined;
    if (edited !== undefined) {
      this.sent[index] = { ...edited, message_id: earlier.message_id };
    }
    return made;
  }

  #deleteMessage(payload: Payload): { result: unknown } | BotApiError {
    const index = this.sent.findIndex(({ message_id: id }) => id === Number(payload['message_id']));
    if (index === -1) return fault(400, 'Bad Request: message to delete not found');
    this.sent.splice(index, 1);
    return { result: true };
  }

  #sendFile(
    payload: Payload,
    field: 'document' | 'photo' | 'voice',
  ): { result: unknown } | BotApiError {
    const file = payload[field];
    if (typeof file !== 'object' || file === null) {
      return fault(400, `Bad Request: there is no ${field} in the request`);
    }
    const chatId = Number(payload['chat_id']);
    const message = {
      ...this.#message(this.#chats.get(chatId) ?? { id: chatId, type: 'private' }),
    };
    const { message_id } = message;
    const said = {
      message_id,
      chatId,
      text: '',
      entities: [],
      source: '',
      parseMode: null,
      buttons: [],
    };
    this.sent.push({ ...said, ...placeOf(payload), file: file as { name: string; text: string } });
    return { result: message };
  }

  #react(payload: Payload): { result: unknown } | BotApiError {
    const reaction = payload['reaction'];
    const known = new Set(['👍', '👎', '❤', '🔥', '🎉', '👀', '👌']);
    const all = Array.isArray(reaction) ? reaction : [];
    if (!all.every(({ emoji }) => known.has(emoji))) {
      return fault(400, 'Bad Request: REACTION_INVALID');
    }
    this.reactions.set(Number(payload['message_id']), all);
    return { result: true };
  }

  #sendMessage(payload: Payload): { result: unknown } | BotApiError {
    const source = String(payload['text'] ?? '');
    const parseMode = payload['parse_mode'] === undefined ? null : String(payload['parse_mode']);
    if (parseMode !== null && parseMode.toUpperCase() !== 'HTML') {
      return fault(400, 'Bad Request: unsupported parse_mode');
    }
    try {
      const { text, entities } =
        parseMode === null ? { text: source.trim(), entities: [] } : parseHtml(source);
      if (text === '') return fault(400, 'Bad Request: message text is empty');
      if ([...text].length > 4_096) return fault(400, 'Bad Request: message is too long');
      const buttons = buttonsIn(payload);
      if (buttons.some((button) => Buffer.byteLength(button.callback_data) > 64)) {
        return fault(400, 'Bad Request: BUTTON_DATA_INVALID');
      }
      const chatId = Number(payload['chat_id']);
      const chat = this.#chats.get(chatId) ?? { id: chatId, type: 'private' };
      const message = { ...this.#message(chat), from: this.bot, text, entities };
      const { message_id } = message;
      this.sent.push({
        message_id,
        chatId,
        text,
        entities,
        source,
        parseMode,
        buttons,
        ...placeOf(payload),
      });
      return { result: message };
    } catch (error) {
      if (!(error instanceof HtmlError)) throw error;
      return fault(400, `Bad Request: can't parse entities: ${error.message}`);
    }
  }

  #getUpdates(
    payload: Payload,
    response: ServerResponse,
    answer: (outcome: { result: unknown } | BotApiError) => void,
  ): void {
    if (this.#webhook.url !== '') {
      answer(
        fault(
          409,
          "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        ),
      );
      return;
    }
    const offset = this.isForgetful ? 0 : Number(payload['offset'] ?? 0);
    const confirmed = offset < 0 ? this.pending.length + offset : this.#countBelow(offset);
    this.pending.splice(0, Math.max(0, confirmed));
    if (Array.isArray(payload['allowed_updates'])) this.#allowed = payload['allowed_updates'];
    this.#poll?.answer(
      fault(
        409,
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
      ),
    );
    const limit = Number(payload['limit'] ?? 100);
    const find = () => this.pending.filter((update) => this.#isAllowed(update)).slice(0, limit);
    const finish = (outcome: { result: unknown } | BotApiError) => {
      clearTimeout(timer);
      if (this.#poll === poll) this.#poll = null;
      answer(outcome);
    };
    const timer = setTimeout(
      () => finish({ result: [] }),
      find().length > 0 || this.isHasty ? 0 : Number(payload['timeout'] ?? 0) * 1_000,
    );
    const poll: Poll = {
      answer: (news) => finish('error_code' in news ? news : { result: find() }),
    };
    this.#poll = poll;
    response.on('close', () => {
      clearTimeout(timer);
      if (this.#poll === poll) this.#poll = null;
    });
    if (find().length > 0) poll.answer([]);
  }

  #countBelow(offset: number): number {
    const index = this.pending.findIndex(({ update_id }) => update_id >= offset);
    return index === -1 ? this.pending.length : index;
  }

  #isAllowed(update: Update): boolean {
    return this.#allowed.length === 0 || this.#allowed.some((name) => name in update);
  }
}

/** Starts a Bot API for the bot with this token, on a free port of loopback. */
export async function startBotApi(options: {
  readonly token: string;
  readonly username?: string;
}): Promise<BotApi> {
  return await new BotApi(options.token, options.username ?? 'andy_bot').comeUp();
}

function buttonsIn(payload: Payload): readonly Button[] {
  const given = payload['reply_markup'] ?? { inline_keyboard: [] };
  const markup = typeof given === 'string' ? JSON.parse(given) : given;
  return markup.inline_keyboard.flat();
}

function isTolerant(payload: Payload): boolean {
  return JSON.stringify(payload['reply_parameters']).includes('allow_sending_without_reply');
}

function fault(error_code: number, description: string): BotApiError {
  return { error_code, description };
}

function placeOf(payload: Payload): Pick<SentMessage, 'replyTo' | 'thread'> {
  const asked = payload['reply_parameters'];
  // In a form, objects are JSON.
  const reply = typeof asked === 'string' ? JSON.parse(asked) : asked;
  const thread = payload['message_thread_id'];
  return {
    ...(reply === undefined ? {} : { replyTo: Number(reply.message_id) }),
    ...(thread === undefined ? {} : { thread: Number(thread) }),
  };
}

/** Reads a form with files: each field that is one, or names one by `attach://`, becomes that file. */
async function readForm(body: Buffer, type: string): Promise<Payload> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const fields = await Promise.all(
    [...form].map(async ([name, value]) => {
      if (typeof value === 'string') return [name, value] as const;
      return [name, { name: value.name, text: await value.text() }] as const;
    }),
  );
  const all: Payload = Object.fromEntries(fields);
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => {
      const attached = typeof value === 'string' ? /^attach:\/\/(.+)$/.exec(value)?.[1] : undefined;
      return [name, attached === undefined ? value : all[attached]];
    }),
  );
}

async function readBody(request: IncomingMessage): Promise<Payload> {
  const bytes = await readBytes(request);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return await readForm(bytes, type);
  const body = bytes.toString();
  if (body === '') return {};
  return type.startsWith('application/json')
    ? JSON.parse(body)
    : Object.fromEntries(new URLSearchParams(body));
}

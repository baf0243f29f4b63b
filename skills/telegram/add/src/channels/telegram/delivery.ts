import { type Api, GrammyError, InputFile } from 'grammy';
import type { InlineKeyboardMarkup, ReactionTypeEmoji } from 'grammy/types';
import type {
  ChannelCapabilities,
  ChannelClock,
  OutboundFile,
  OutboundMessage,
} from '../channel.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import type { Part } from '../kit/render-parts.ts';
import { explainSendFailure, retryAfterMs, TelegramError } from './failure.ts';
import { formatParts } from './format.ts';
import { chatIdOf } from './jid.ts';
import { BUTTONS, keyboardOf } from './press.ts';
import { forGrammy } from './signal.ts';

/** Abilities of a bot. The Bot API takes uploads of 50 MB. */
export const CAPABILITIES: ChannelCapabilities = {
  attachments: { maxBytes: 50_000_000 },
  choices: BUTTONS,
  replyTo: true,
  thread: true,
  reactions: true,
  edits: true,
};

/** The text of one message of Telegram's; buttons are below the last one. */
type Words = Part & { readonly keyboard?: InlineKeyboardMarkup };

/** One request of those that a message becomes. */
export type Sending =
  | { readonly kind: 'text'; readonly part: Words; readonly isFirst: boolean }
  | { readonly kind: 'file'; readonly file: OutboundFile; readonly isFirst: boolean }
  | { readonly kind: 'edit'; readonly part: Part; readonly messageId: number }
  | { readonly kind: 'reaction'; readonly emoji: string };

export type DeliveryOptions = {
  readonly api: Api;
  /** The same, with time for a large file. */
  readonly uploads: Api;
  readonly clock: ChannelClock;
};

/** Messages that may still be edited: those of a few minutes. */
const KEPT_IDS = 200;

/** Sends messages through a bot. What fails is a TelegramError, or an UnknownDelivery. */
export function createDelivery({ api, uploads, clock }: DeliveryOptions): PartDelivery<Sending> {
  const sent = new Map<string, number>();

  function remember({ id }: OutboundMessage, messageId: number): void {
    const [oldest] = sent.keys();
    if (sent.size >= KEPT_IDS && oldest !== undefined) sent.delete(oldest);
    sent.set(id, messageId);
  }

  return new PartDelivery({
    partsOf: (message) => {
      chatIn(message.jid);
      return sendingsOf(message, sent.get(message.replaces ?? '') ?? null);
    },
    async send(message, sending, signal) {
      const request = { api: sending.kind === 'file' ? uploads : api, message, signal };
      const messageId = await carryOut(request, sending);
      if (messageId !== null) remember(message, messageId);
    },
    pauseMs: (error) => (isTooMany(error) ? retryAfterMs(error) : null),
    pause: clock.pause,
    explain: (error) => (error instanceof TelegramError ? error : explainSendFailure(error)),
  });
}

/** @throws TelegramError, UnknownDelivery */
export async function showTyping(api: Api, jid: string, signal: AbortSignal): Promise<void> {
  try {
    await api.sendChatAction(chatIn(jid), 'typing', {}, forGrammy(signal));
  } catch (error) {
    throw error instanceof TelegramError ? error : explainSendFailure(error);
  }
}

/** @param earlier Telegram's id of the message that this one replaces; null for none that is known */
function sendingsOf(
  { text, choices, attachments = [], reactsTo }: OutboundMessage,
  earlier: number | null,
): readonly Sending[] {
  if (reactsTo !== undefined) return [{ kind: 'reaction', emoji: text.trim() }];
  const parts = withButtons(formatParts(text), choices);
  const [only, ...more] = parts;
  if (earlier !== null && only !== undefined && more.length === 0) {
    return [{ kind: 'edit', part: only, messageId: earlier }];
  }
  return [
    ...parts.map((part, at) => ({ kind: 'text', part, isFirst: at === 0 }) as const),
    ...attachments.map((file, at) => {
      return { kind: 'file', file, isFirst: parts.length === 0 && at === 0 } as const;
    }),
  ];
}

function withButtons(
  parts: readonly Part[],
  choices: OutboundMessage['choices'],
): readonly Words[] {
  const last = parts.at(-1);
  if (choices === undefined || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, keyboard: keyboardOf(choices) }];
}

type Request = {
  readonly api: Api;
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
};

/** @returns Telegram's id of the message by which this one can be edited; null for another */
async function carryOut(request: Request, sending: Sending): Promise<number | null> {
  switch (sending.kind) {
    case 'text': {
      const messageId = await sendText(request, sending.part, sending.isFirst);
      return sending.isFirst ? messageId : null;
    }
    case 'edit':
      return await editText(request, sending.part, sending.messageId);
    case 'file':
      await sendFile(request, sending.file, sending.isFirst);
      return null;
    case 'reaction':
      await react(request, sending.emoji);
      return null;
  }
}

async function sendText(request: Request, part: Words, isFirst: boolean): Promise<number> {
  const { api, message, signal } = request;
  const buttons = part.keyboard === undefined ? {} : { reply_markup: part.keyboard };
  const place = { ...placeOf(message, isFirst), ...buttons };
  const { message_id: messageId } = await formatted(part, (content, format) =>
    api.sendMessage(
      chatIn(message.jid),
      content,
      { ...format, ...QUIETLY, ...place },
      forGrammy(signal),
    ),
  );
  return messageId;
}

/** Edits a message. One that cannot be edited any more, such as a deleted one, is sent once more. */
async function editText(request: Request, part: Part, messageId: number): Promise<number> {
  const { api, message, signal } = request;
  try {
    await formatted(part, (content, format) =>
      api.editMessageText(
        chatIn(message.jid),
        messageId,
        content,
        { ...format, ...QUIETLY },
        forGrammy(signal),
      ),
    );
    return messageId;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return isUnchanged(error) ? messageId : await sendText(request, part, true);
  }
}

async function sendFile(
  { api, message, signal }: Request,
  { path, name }: OutboundFile,
  isFirst: boolean,
): Promise<void> {
  const file = new InputFile(path, quoted(name));
  const place = placeOf(message, isFirst);
  await api.sendDocument(chatIn(message.jid), file, place, forGrammy(signal));
}

/** grammY writes the name as it is given into a header, where a space or a semicolon would end it. */
function quoted(name: string): string {
  return `"${name.replace(/["\\\p{Cc}]/gu, '_')}"`;
}

/** Telegram takes a few emojis as reactions, and those that a group allows. Another one is a message. */
async function react(request: Request, emoji: string): Promise<void> {
  const { api, message, signal } = request;
  const messageId = Number(message.reactsTo?.id);
  const reaction = { type: 'emoji', emoji: emoji as ReactionTypeEmoji['emoji'] } as const;
  try {
    await api.setMessageReaction(chatIn(message.jid), messageId, [reaction], {}, forGrammy(signal));
  } catch (error) {
    if (!isRefused(error)) throw error;
    const { reactsTo: replyTo, ...others } = message;
    const said = { ...others, ...(replyTo === undefined ? {} : { replyTo }) };
    await sendText({ ...request, message: said }, { text: emoji, plain: emoji }, true);
  }
}

/** A preview would make Telegram fetch an address that the model chose. */
const QUIETLY = { link_preview_options: { is_disabled: true } };

/** The topic of a message, and what its first part answers, which may have been deleted since. */
function placeOf({ thread, replyTo }: OutboundMessage, isFirst: boolean) {
  const answered = isFirst && replyTo !== undefined ? Number(replyTo.id) : Number.NaN;
  return {
    ...(thread === undefined ? {} : { message_thread_id: Number(thread) }),
    ...(Number.isInteger(answered)
      ? { reply_parameters: { message_id: answered, allow_sending_without_reply: true } }
      : {}),
  };
}

async function formatted<T>(
  { text, plain }: Part,
  request: (content: string, format: { parse_mode?: 'HTML' }) => Promise<T>,
): Promise<T> {
  try {
    return await request(text, { parse_mode: 'HTML' });
  } catch (error) {
    // Mostly formatting that Telegram does not take; anything else is refused again.
    if (!isRefused(error) || isUnchanged(error)) throw error;
    return await request(plain, {});
  }
}

function isRefused(error: unknown): error is GrammyError {
  return error instanceof GrammyError && error.error_code === 400;
}

function isUnchanged(error: GrammyError): boolean {
  return error.description.includes('message is not modified');
}

function isTooMany(error: unknown): error is GrammyError {
  return error instanceof GrammyError && error.error_code === 429;
}

/** @throws TelegramError JID_INVALID */
function chatIn(jid: string): number {
  const chatId = chatIdOf(jid);
  if (chatId === null) throw new TelegramError('JID_INVALID', `${jid} is not a chat on Telegram.`);
  return chatId;
}

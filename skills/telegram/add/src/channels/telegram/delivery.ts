import type { InlineKeyboardMarkup, ReactionTypeEmoji } from 'grammy/types';
import { type Api, GrammyError } from 'grammy/web';
import type {
  ChannelCapabilities,
  ChannelClock,
  OutboundDraft,
  OutboundFile,
  OutboundMessage,
} from '../channel.ts';
import { draftText } from '../kit/draft-text.ts';
import { editedParts } from '../kit/edited-parts.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import type { Part } from '../kit/render-parts.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { explainSendFailure, retryAfterMs, TelegramError } from './failure.ts';
import { sendFile } from './file-upload.ts';
import { formatParts } from './format.ts';
import { chatIdOf, jidOf } from './jid.ts';
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
  // In a group a bot may do twenty things a minute.
  drafts: { everyMs: 1_000, everyMsInGroup: 4_000 },
};

/** The text of one message of Telegram's; buttons are below the last one. */
type Words = Part & { readonly keyboard?: InlineKeyboardMarkup };

/** One request of those that a message becomes. */
export type Sending =
  | { readonly kind: 'send'; readonly part: Words; readonly at: number }
  | { readonly kind: 'edit'; readonly part: Words; readonly at: number; readonly farId: string }
  | { readonly kind: 'file'; readonly file: OutboundFile; readonly isFirst: boolean }
  | { readonly kind: 'remove'; readonly farId: string }
  | { readonly kind: 'reaction'; readonly emoji: string };

export type DeliveryOptions = {
  readonly api: Api;
  /** The same, with time for a large file. */
  readonly uploads: Api;
  readonly clock: ChannelClock;
  readonly sent: SentMessages;
  /** A group has another address from now on; resolves when the host knows. */
  readonly onMoved: (from: string, to: string) => Promise<void>;
};

/** Sends messages through a bot. What fails is a TelegramError, or an UnknownDelivery. */
export function createDelivery(options: DeliveryOptions): PartDelivery<Sending> {
  const { api, uploads, clock, sent, onMoved } = options;
  return new PartDelivery({
    partsOf: (message) => {
      chatIn(message.jid);
      return sendingsOf(message, sent.partsOf(message.id, message.replaces));
    },
    async send(message, sending, signal) {
      const request = { api: sending.kind === 'file' ? uploads : api, message, signal, sent };
      try {
        await carryOut(request, sending);
      } catch (error) {
        const elsewhere = await placeInstead(message, error, onMoved);
        if (elsewhere === null) throw error;
        await carryOut({ ...request, message: elsewhere }, sending);
      }
    },
    pauseMs: (error) => (isTooMany(error) ? retryAfterMs(error) : null),
    pause: clock.pause,
    explain: (error) => (error instanceof TelegramError ? error : explainSendFailure(error)),
  });
}

/**
 * Returns a message with the place that it can be sent to after a refusal: the group without a topic that is gone or
 * closed, or the address that a group has now. Null for any other refusal.
 */
async function placeInstead(
  message: OutboundMessage,
  error: unknown,
  onMoved: DeliveryOptions['onMoved'],
): Promise<OutboundMessage | null> {
  if (!isRefused(error)) return null;
  const { thread, replyTo, ...others } = message;
  const movedTo = error.parameters.migrate_to_chat_id;
  if (movedTo !== undefined) {
    const jid = jidOf(movedTo);
    await onMoved(message.jid, jid);
    return { ...others, jid };
  }
  if (thread === undefined || !TOPIC_IS_GONE.test(error.description)) return null;
  return replyTo === undefined ? others : { ...others, replyTo };
}

const TOPIC_IS_GONE = /thread not found|TOPIC_(?:DELETED|CLOSED|ID_INVALID)/i;

/** Makes a message of a draft: the same one at each step, with what there is by then. */
export function messageOf({ activity, ...draft }: OutboundDraft): OutboundMessage {
  return { ...draft, text: draftText({ text: draft.text, activity }) };
}

/** Takes a message away, all parts of it. */
export async function takeBack(
  { api, sent }: Pick<DeliveryOptions, 'api' | 'sent'>,
  message: Pick<OutboundMessage, 'jid' | 'id'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const farId of sent.partsOf(message.id)) {
      if (farId !== undefined) await remove({ api, sent, message, signal }, farId);
    }
  } catch (error) {
    throw error instanceof TelegramError ? error : explainSendFailure(error);
  }
}

/** @throws TelegramError, UnknownDelivery */
export async function showTyping(api: Api, jid: string, signal: AbortSignal): Promise<void> {
  try {
    await api.sendChatAction(chatIn(jid), 'typing', {}, forGrammy(signal));
  } catch (error) {
    throw error instanceof TelegramError ? error : explainSendFailure(error);
  }
}

/** @param known Telegram's ids of the messages that are there of it, or of what it replaces */
function sendingsOf(
  { text, choices, attachments = [], reactsTo }: OutboundMessage,
  known: readonly (string | undefined)[],
): readonly Sending[] {
  if (reactsTo !== undefined) return [{ kind: 'reaction', emoji: text.trim() }];
  const parts = withButtons(formatParts(text), choices);
  const steps = editedParts(parts, known);
  const files = attachments.map((file, at) => {
    return { kind: 'file', file, isFirst: parts.length === 0 && at === 0 } as const;
  });
  const isNeedless = ({ kind }: Sending) => kind === 'remove';
  return [...steps.filter((step) => !isNeedless(step)), ...files, ...steps.filter(isNeedless)];
}

function withButtons(
  parts: readonly Part[],
  choices: OutboundMessage['choices'],
): readonly Words[] {
  const last = parts.at(-1);
  if (choices === undefined || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, keyboard: keyboardOf(choices) }];
}

type DeliveryRequest<M = OutboundMessage> = {
  readonly api: Api;
  readonly message: M;
  readonly signal: AbortSignal;
  readonly sent: SentMessages;
};

async function carryOut(request: DeliveryRequest, sending: Sending): Promise<void> {
  const { message, sent } = request;
  switch (sending.kind) {
    case 'send':
    case 'edit': {
      const { part, at } = sending;
      const known = sending.kind === 'edit' ? sending.farId : null;
      const text = `${part.text}${JSON.stringify(part.keyboard ?? '')}`;
      const isShown = known !== null && sent.shows({ jid: message.jid, farId: known, text });
      const farId =
        known === null
          ? await sendText(request, part, at === 0)
          : isShown
            ? known
            : await editText(request, part, { messageId: known, isFirst: at === 0 });
      sent.note({ id: message.id, at, jid: message.jid, farId, text });
      return;
    }
    case 'remove':
      return await remove(request, sending.farId);
    case 'file': {
      const place = { chatId: chatIn(message.jid), options: placeOf(message, sending.isFirst) };
      return await sendFile(request.api, sending.file, place, request.signal);
    }
    case 'reaction':
      await react(request, sending.emoji);
  }
}

/** Takes one message away. It stays where Telegram does not allow that, as after two days. */
async function remove(
  { api, message: { jid }, signal, sent }: DeliveryRequest<Pick<OutboundMessage, 'jid'>>,
  farId: string,
): Promise<void> {
  try {
    await api.deleteMessage(chatIn(jid), Number(farId), forGrammy(signal));
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  sent.remove({ jid, farId });
}

/** @returns Telegram's id of the message */
async function sendText(request: DeliveryRequest, part: Words, isFirst: boolean): Promise<string> {
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
  return String(messageId);
}

/** Edits a message. One that cannot be edited any more, such as a deleted one, is sent once more. */
async function editText(
  request: DeliveryRequest,
  part: Words,
  { messageId, isFirst }: { readonly messageId: string; readonly isFirst: boolean },
): Promise<string> {
  const { api, message, signal } = request;
  const buttons = part.keyboard === undefined ? {} : { reply_markup: part.keyboard };
  try {
    await formatted(part, (content, format) =>
      api.editMessageText(
        chatIn(message.jid),
        Number(messageId),
        content,
        { ...format, ...QUIETLY, ...buttons },
        forGrammy(signal),
      ),
    );
    return messageId;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return isUnchanged(error) ? messageId : await sendText(request, part, isFirst);
  }
}

/** Telegram takes a few emojis as reactions, and those that a group allows. Another one is a message. */
async function react(request: DeliveryRequest, emoji: string): Promise<void> {
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

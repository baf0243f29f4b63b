import { type Api, GrammyError } from 'grammy';
import type { InlineKeyboardMarkup } from 'grammy/types';
import type { ChannelClock } from '../channel.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import type { Part } from '../kit/render-parts.ts';
import { explainSendFailure, retryAfterMs, TelegramError } from './failure.ts';
import { formatParts } from './format.ts';
import { chatIdOf } from './jid.ts';
import { keyboardOf } from './press.ts';
import { forGrammy } from './signal.ts';

/** What goes out as one message of Telegram's; buttons are below the last one. */
export type TelegramPart = Part & { readonly keyboard?: InlineKeyboardMarkup };

/** Sends messages through a bot. What fails is a TelegramError, or an UnknownDelivery. */
export function createDelivery(api: Api, clock: ChannelClock): PartDelivery<TelegramPart> {
  return new PartDelivery<TelegramPart>({
    partsOf: ({ jid, text, choices }) => {
      chatIn(jid);
      const parts = formatParts(text);
      const last = parts.at(-1);
      if (choices === undefined || last === undefined) return parts;
      return [...parts.slice(0, -1), { ...last, keyboard: keyboardOf(choices) }];
    },
    send: ({ jid }, part, signal) => sendPart(api, chatIn(jid), part, signal),
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

async function sendPart(
  api: Api,
  chatId: number,
  { text, plain, keyboard }: TelegramPart,
  signal: AbortSignal,
): Promise<void> {
  // A preview would make Telegram fetch an address that the model chose.
  const quietly = {
    link_preview_options: { is_disabled: true },
    ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
  };
  const request = (content: string, format: { parse_mode?: 'HTML' }) =>
    api.sendMessage(chatId, content, { ...format, ...quietly }, forGrammy(signal));
  await request(text, { parse_mode: 'HTML' }).catch((error) => {
    // Mostly formatting that Telegram does not take; anything else is refused again.
    if (!(error instanceof GrammyError) || error.error_code !== 400) throw error;
    return request(plain, {});
  });
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

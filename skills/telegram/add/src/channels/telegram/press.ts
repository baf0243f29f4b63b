import type { CallbackQuery, InlineKeyboardMarkup } from 'grammy/types';
import type { Api } from 'grammy/web';
import type { Choice, ChoiceOutcome, OutboundChoices } from '../channel.ts';
import { jidOf } from './jid.ts';
import { forGrammy } from './signal.ts';

/** As many buttons as fit below a message, each on a line of its own, which phones show whole. */
export const BUTTONS = { most: 12, longest: 40 };

/** Makes the buttons of a question. Telegram takes 64 bytes for each: an option is named by its number. */
export function keyboardOf({ question, options }: OutboundChoices): InlineKeyboardMarkup {
  return {
    inline_keyboard: options.map(({ label }, at) => [
      { text: label, callback_data: `${question}:${at + 1}` },
    ]),
  };
}

/** Reads a press as the choice that it is; null for a button that is not ours. */
export function choiceIn(
  { from, data, message }: CallbackQuery,
  owner: string | null,
): Choice | null {
  const [, question, word] = /^(.+):(\d{1,2})$/.exec(data ?? '') ?? [];
  if (message === undefined || question === undefined || word === undefined) return null;
  const sender = String(from.id);
  return { jid: jidOf(message.chat.id), sender, isOwner: sender === owner, question, word };
}

const TOLD: Readonly<Record<ChoiceOutcome, string | null>> = {
  noted: null,
  'not-asked': 'This question is for another person.',
  closed: 'This question is not open any more.',
};

/**
 * Ends the wait that the app shows after a press, and takes buttons away that are of no more use. Never rejects:
 * the answer is stored, and Telegram refuses what comes too late.
 */
export async function showOutcome(
  api: Api,
  { id, message }: CallbackQuery,
  { outcome, signal }: { readonly outcome: ChoiceOutcome; readonly signal: AbortSignal },
): Promise<void> {
  const told = TOLD[outcome];
  const ended = api.answerCallbackQuery(id, told === null ? {} : { text: told }, forGrammy(signal));
  const cleared =
    message === undefined || outcome === 'not-asked'
      ? null
      : api.editMessageReplyMarkup(message.chat.id, message.message_id, {}, forGrammy(signal));
  await Promise.allSettled([ended, cleared]);
}

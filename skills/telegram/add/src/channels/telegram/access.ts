import { readPhoneNumber } from '../../lib/phone-number.ts';
import { allowListRule } from '../kit/allow-list.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export const allowListProblem = allowListRule({
  name: 'TELEGRAM_ALLOW_FROM',
  purpose: 'write to the bot',
  example: '<your user id>',
  hint: '@userinfobot on Telegram tells you your id.',
  entries: {
    isValid: (entry) => /^\d+$/.test(entry),
    otherwise: 'not a user id',
    form: 'numbers',
  },
});

/** Ids have 10 digits at most so far; a phone number with its country has mostly more. */
const MOST_DIGITS = 10;
/** The fewest digits of a phone number. */
const PHONE_DIGITS = 7;

/** What the owner typed, as a person on Telegram. */
export type TypedUser =
  /** `isGuess` where it can be a phone number as well. */
  | { readonly kind: 'id'; readonly id: string; readonly isGuess: boolean }
  | { readonly kind: 'phone number' }
  | { readonly kind: 'nobody' };

/** Reads a user id. With `telegram:` before it, it is one however many digits it has. */
export function readUser(typed: string): TypedUser {
  const written = typed.trim();
  const [, prefix, id] = /^(telegram:)?([1-9]\d{4,15})$/.exec(written) ?? [];
  if (id !== undefined && (prefix !== undefined || id.length <= MOST_DIGITS)) {
    return { kind: 'id', id, isGuess: prefix === undefined && id.length >= PHONE_DIGITS };
  }
  const isPhone = readPhoneNumber(written, null).kind !== 'no number' || id !== undefined;
  return { kind: isPhone ? 'phone number' : 'nobody' };
}

/** Says what to type instead of what can be, or is, a phone number; null for anything else. */
export function phoneProblem(typed: string): string | null {
  const user = readUser(typed);
  const written = typed.trim();
  if (user.kind === 'phone number') {
    return (
      `${written} looks like a phone number, and Telegram shows bots no phone numbers. Type the person's user id, such as ` +
      'telegram:987654321; @userinfobot on Telegram tells it to them.'
    );
  }
  if (user.kind === 'nobody' || !user.isGuess) return null;
  return (
    `${written} can be a user id of Telegram or a phone number, and nobody with this id has a chat with the bot. ` +
    `If it is a user id, type telegram:${user.id}.`
  );
}

/** Returns the first of these ids that can only be a phone number, as a sentence; null for none. */
export function phoneAmong(ids: readonly string[]): string | null {
  const phone = ids.find((id) => readUser(id).kind === 'phone number');
  return phone === undefined ? null : phoneProblem(phone);
}

/** Returns a user id without `telegram:` before it, as messages have it. */
export function bareId(typed: string): string {
  return typed.replace(/^telegram:(?=\d)/, '');
}

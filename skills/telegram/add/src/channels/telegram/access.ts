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

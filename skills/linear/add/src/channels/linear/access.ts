import { allowListRule } from '../kit/allow-list.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export const allowListProblem = allowListRule({
  name: 'LINEAR_ALLOW_FROM',
  purpose: 'give the assistant issues',
  example: '<your e-mail address at Linear>',
  entries: {
    isValid: (entry) => /^[^@\s]+@[^@\s]+$|^[0-9a-f-]{36}$/.test(entry),
    otherwise: 'neither an e-mail address nor the id of a user',
    form: 'those',
  },
});

import { allowListRule } from '../kit/allow-list.ts';
import { addressIn } from './jid.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export const allowListProblem = allowListRule({
  name: 'SIGNAL_ALLOW_FROM',
  purpose: 'write to the assistant on Signal',
  example: '<your number, such as +4915112345678>',
  entries: {
    isValid: (entry) => addressIn(entry) !== null,
    otherwise: 'neither a number with its country, such as +4915112345678, nor a UUID',
    form: 'those',
  },
});

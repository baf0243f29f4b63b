import { oddEntry } from '../kit/allow-list.ts';
import { addressIn } from './jid.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export function allowListProblem(allowFrom: readonly string[]): string | null {
  if (allowFrom.length === 0) {
    return (
      'Nobody is allowed to write to the assistant on Signal yet. Add ' +
      'SIGNAL_ALLOW_FROM=<your number, such as +4915112345678> to .env and restart.'
    );
  }
  const odd = oddEntry(allowFrom, (entry) => addressIn(entry) !== null);
  return odd === undefined
    ? null
    : `SIGNAL_ALLOW_FROM in .env holds "${odd}", which is neither a number with its country, such as ` +
        '+4915112345678, nor a UUID. Write those with commas between them, or * for everybody, and restart.';
}

import { oddEntry } from '../kit/allow-list.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export function allowListProblem(allowFrom: readonly string[]): string | null {
  if (allowFrom.length === 0) {
    return (
      'Nobody is allowed to write to the bot yet. Add TELEGRAM_ALLOW_FROM=<your user id> ' +
      'to .env and restart; @userinfobot on Telegram tells you your id.'
    );
  }
  const odd = oddEntry(allowFrom, (entry) => /^\d+$/.test(entry));
  return odd === undefined
    ? null
    : `TELEGRAM_ALLOW_FROM in .env holds "${odd}", which is not a user id. Write numbers with commas ` +
        'between them, or * for everybody, and restart.';
}

import { oddEntry } from '../kit/allow-list.ts';

/** What keeps the list from being used, with the line to add to `.env`; null when it can be used. */
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

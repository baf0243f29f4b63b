import { oddEntry } from '../kit/allow-list.ts';
import { isSnowflake } from './jid.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export function allowListProblem(allowFrom: readonly string[]): string | null {
  if (allowFrom.length === 0) {
    return (
      'Nobody is allowed to write to the bot yet. Add DISCORD_ALLOW_FROM=<your user id> to .env and ' +
      'restart. For the id switch on Developer Mode in Discord (Settings, Advanced), then Copy User ID ' +
      'is in the menu of your name.'
    );
  }
  const odd = oddEntry(allowFrom, isSnowflake);
  return odd === undefined
    ? null
    : `DISCORD_ALLOW_FROM in .env holds "${odd}", which is not a user id. Write numbers of 17 digits or ` +
        'more with commas between them, or * for everybody, and restart.';
}

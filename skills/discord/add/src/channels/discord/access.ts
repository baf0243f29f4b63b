import { allowListRule } from '../kit/allow-list.ts';
import { isSnowflake } from './jid.ts';

/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export const allowListProblem = allowListRule({
  name: 'DISCORD_ALLOW_FROM',
  purpose: 'write to the bot',
  example: '<your user id>',
  hint:
    'For the id switch on Developer Mode in Discord (Settings, Advanced), then Copy User ID is in the menu of ' +
    'your name.',
  entries: {
    isValid: isSnowflake,
    otherwise: 'not a user id',
    form: 'numbers of 17 digits or more',
  },
});

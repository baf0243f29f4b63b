import { z } from 'zod';
import { wholeNumber } from '../lib/setting-values.ts';
import { defineSetup } from './step.ts';

const Days = wholeNumber(0, 31);

/** Asks for the owner's other names, and for the days of notes that are shown. */
export const setup = defineSetup({
  name: 'notes',
  help: 'tells the assistant which other accounts are yours, and how many days of notes it sees',
  settings: z.object({ OWNER_ALIASES: z.string().default(''), NOTES_DAYS: Days.default(3) }),
  currentState: ({ settings: { OWNER_ALIASES: aliases, NOTES_DAYS: days } }) =>
    aliases === '' ? null : `${days} days, also known as ${aliases}`,
  async run({ ask, write, settings }) {
    const aliases = await ask({
      message:
        'Your accounts on other channels, with commas between them, such as telegram:12345 or ada@example.org (empty for none)',
      initial: settings.OWNER_ALIASES,
      check: (typed) =>
        /["'\\#]/.test(typed) ? 'Names and ids alone, without quotation marks, \\ and #.' : null,
    });
    const days = await ask({
      message: 'How many days of notes shall be before its eyes, today included?',
      proposed: String(settings.NOTES_DAYS),
      check: (typed) => (Days.safeParse(typed).success ? null : 'A whole number from 0 to 31.'),
    });
    write({ OWNER_ALIASES: aliases.trim(), NOTES_DAYS: days });
    const known = aliases.trim() === '' ? 'no other accounts' : aliases.trim();
    return { summary: `Notes of ${days} days; yours: ${known}.`, data: { aliases, days } };
  },
});

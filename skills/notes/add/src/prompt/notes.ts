import { z } from 'zod';
import { definePromptSection } from '../host/contracts/prompt-section.ts';
import { wholeNumber } from '../lib/setting-values.ts';
import { labelOf, parseAliases } from './notes/label.ts';

const MOST_NAMED = 10;

/** Tells the agent's side the day, the labels of this turn's senders, and how many days of notes are shown. */
export const section = definePromptSection({
  name: 'notes',
  order: 850,
  settings: z.object({
    NOTES_DAYS: wholeNumber(0, 31).default(3),
    OWNER_ALIASES: z.string().default('').transform(parseAliases),
  }),
  create:
    ({ settings: { NOTES_DAYS: days, OWNER_ALIASES: aliases }, timeZone }) =>
    ({ channel, senders, now, beginsAnew, isTask }) => {
      const labels = senders.map((sender) => ({
        label: labelOf(channel, sender, aliases),
        name: sender.name,
      }));
      const label = labels.at(-1)?.label ?? labelOf(channel, null, aliases);
      const own = labelOf(channel, null, aliases);
      const named = labels.slice(-MOST_NAMED);
      return { forAgent: { days, timeZone, now, beginsAnew, isTask, label, own, senders: named } };
    },
});

import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Tells the agent's side what it cannot know of a turn; it reads the files of the persona. */
export const section = definePromptSection({
  name: 'persona',
  order: 750,
  create({ timeZone }) {
    // Sweden writes a day as 2026-11-22.
    const day = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
    return ({ isTask, now }) => ({ forAgent: { isTask, today: day.format(now) } });
  },
});

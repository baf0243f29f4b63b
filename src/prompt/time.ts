import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Gives the owner's local time. */
export const section = definePromptSection({
  name: 'time',
  order: 300,
  changes: 'each-turn',
  create({ timeZone }) {
    const clock = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      dateStyle: 'full',
      timeStyle: 'short',
    });
    return ({ now }) => `Now: ${clock.format(now)} (${timeZone}).`;
  },
});

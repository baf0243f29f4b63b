import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Says that an earlier conversation has ended, and how to look it up. */
export const section = definePromptSection({
  name: 'conversation',
  order: 600,
  changes: 'each-turn',
  create:
    () =>
    ({ beginsAnew }) =>
      beginsAnew
        ? 'A new conversation begins here; an earlier one in this chat has ended. Where that matters, look up what was said with search_history.'
        : null,
});

import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Says how to do something later. */
export const section = definePromptSection({
  name: 'later',
  order: 400,
  create: () => () =>
    'You are called for messages and scheduled tasks only: what is to be done later, once or again and again, schedule with schedule_task.',
});

import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Gives the agent's name, and the form of its answer. */
export const section = definePromptSection({
  name: 'identity',
  order: 100,
  create:
    ({ assistantName }) =>
    () =>
      `You are ${assistantName}, a personal assistant. Your last text is the answer that the chat gets; write it in Markdown, and keep it as short as the question allows.`,
});

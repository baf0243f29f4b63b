import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Names the channel and the chat of a question of the owner's: the line stays with the question in the conversation. */
export const section = definePromptSection({
  name: 'own-chat',
  order: 310,
  changes: 'each-turn',
  create:
    () =>
    ({ group, channel, isTask }) =>
      group.isMain
        ? `From: [${channel} / ${isTask ? 'task' : 'owner'}] in the chat ${JSON.stringify(group.name)}.`
        : null,
});

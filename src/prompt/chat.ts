import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Where the agent is speaking. */
export const section = definePromptSection({
  name: 'chat',
  order: 200,
  create:
    () =>
    ({ group }) =>
      `Chat: ${JSON.stringify(group.name)}, ${group.isMain ? 'the main chat, where the owner of this installation speaks' : 'one of the chats that you take part in'}.`,
});

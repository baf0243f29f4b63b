import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Names the chat, and says if it is the main one. */
export const section = definePromptSection({
  name: 'chat',
  order: 200,
  create:
    () =>
    ({ group }) =>
      `Chat: ${JSON.stringify(group.name)}, ${group.isMain ? 'the main chat, where the owner of this installation speaks' : 'one of the chats that you take part in'}.`,
});

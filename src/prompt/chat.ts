import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Names the chat. The owner's own chats are one conversation: which of them speaks is told with each question. */
export const section = definePromptSection({
  name: 'chat',
  order: 200,
  create:
    () =>
    ({ group }) =>
      group.isMain
        ? 'This is the main chat, where the owner of this installation speaks. Their own chats are one conversation, whatever the channel; a line with each question names its channel and chat.'
        : `Chat: ${JSON.stringify(group.name)}, one of the chats that you take part in.`,
});

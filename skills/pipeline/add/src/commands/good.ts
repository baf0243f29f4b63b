import { defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'good',
  help: 'rate the last answer here as good, so that its model is chosen more for such work',
  chats: 'all',
  isQuick: true,
  takesNothing: true,
  async run({ callService }) {
    const said = await callService('pipeline', { kind: 'rate', value: 1 });
    return { kind: 'answer', text: String(said) };
  },
});

import { defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'bad',
  help: 'rate the last answer here as bad, so that its model is chosen less for such work',
  chats: 'all',
  isQuick: true,
  takesNothing: true,
  async run({ callService }) {
    const said = await callService('pipeline', { kind: 'rate', value: -1 });
    return { kind: 'answer', text: String(said) };
  },
});

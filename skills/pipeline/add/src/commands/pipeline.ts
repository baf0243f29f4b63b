import { defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'pipeline',
  help: 'show what was learned about the models by kind of work, and why the last turn here got its model',
  chats: 'all',
  isQuick: true,
  takesNothing: true,
  async run({ callService }) {
    const said = await callService('pipeline', { kind: 'report' });
    return { kind: 'answer', text: String(said) };
  },
});

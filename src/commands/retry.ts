import { defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'retry',
  topic: 'conversation',
  help: 'asks again what failed last',
  takesNothing: true,
  async run({ retryFailed }) {
    const count = retryFailed();
    if (count === 0)
      return { kind: 'answer', text: 'Nothing has failed that could be tried again.' };
    const text = count === 1 ? 'Trying again.' : `Trying ${count} chats again.`;
    return { kind: 'answer', text, isAnsweredLater: true };
  },
});

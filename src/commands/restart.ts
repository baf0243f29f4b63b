import { defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'restart',
  topic: 'assistant',
  help: 'start the assistant again, with the present `.env`',
  takesNothing: true,
  isForAgents: true,
  async run({ settingsProblem }) {
    const problem = settingsProblem();
    if (problem === null) return { kind: 'restart', data: null };
    const text = `Not restarted, and everything runs on: with these settings it would not come back as it was.\n\n${problem}\n\nFix that and say \`/restart\` again.`;
    return { kind: 'answer', text };
  },
  resume: async ({ settings }, _data, { rolledBack }) =>
    rolledBack === null
      ? `${settings.assistantName} is back.`
      : `${settings.assistantName} is back, on the version before: the newer one did not come up.\n\n${rolledBack}`,
});

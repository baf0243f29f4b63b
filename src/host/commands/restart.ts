import type { OwnerCommand } from '../command.ts';

export const command: OwnerCommand = {
  name: 'restart',
  help: 'starts the assistant anew, with `.env` read again',
  isForAgents: true,
  run: async () => ({ kind: 'restart', data: null }),
  resume: async ({ settings }, _data, { rolledBack }) =>
    rolledBack === null
      ? `${settings.assistantName} is back.`
      : `${settings.assistantName} is back, on the version before: the newer one did not come up.\n\n${rolledBack}`,
};

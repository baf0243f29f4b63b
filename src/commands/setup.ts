import { defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'setup',
  help: 'how to set up model, channels and service',
  takesNothing: true,
  isQuick: true,
  run: async ({ projectDir }) => ({
    kind: 'answer',
    text: `Keys belong in no chat, so this is done in a shell on the machine: \`npx claw setup\` in ${projectDir}. WhatsApp can be linked from here: \`/pair\`.`,
  }),
});

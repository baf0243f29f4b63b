import { defineCommand } from '../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'setup',
  topic: 'assistant',
  help: 'show how to set up model, channels and service',
  takesNothing: true,
  isQuick: true,
  async run({ projectDir, channels }) {
    const titles = channels().flatMap(({ pairing }) => (pairing === null ? [] : [pairing.title]));
    const fromHere =
      titles.length === 0 ? '' : ` ${titles.join(' and ')} can be linked from here: \`/pair\`.`;
    return {
      kind: 'answer',
      text: `Keys belong in no chat, so this is done in a shell on the machine: \`npx claw setup\` in ${projectDir}.${fromHere}`,
    };
  },
});

import type { OwnerCommand } from '../command.ts';

export const command: OwnerCommand = {
  name: 'help',
  help: 'lists these commands',
  isQuick: true,
  async run({ commands, settings }) {
    const lines = commands.map(({ name, help }) => `- \`/${name}\`: ${help}`);
    const text = [
      `Say anything to talk to ${settings.assistantName}. These are for you alone:`,
      lines.join('\n'),
      'In the terminal, Ctrl-D or `/exit` leaves.',
    ];
    return { kind: 'answer', text: text.join('\n\n') };
  },
};

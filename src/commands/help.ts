import { isCommandText, matchCommand, type OwnerCommand } from '../host/contracts/command.ts';

export const command: OwnerCommand = {
  name: 'help',
  help: 'lists these commands; with the name of one, only that',
  isQuick: true,
  async run({ commands, settings }, argument) {
    const lineOf = ({ name, help }: OwnerCommand): string => `- \`/${name}\`: ${help}`;
    if (argument.trim() !== '') {
      const wanted = `/${argument.trim().replace(/^\//, '')}`;
      const match = isCommandText(wanted) ? matchCommand(wanted, commands) : null;
      const text =
        match?.kind === 'found'
          ? lineOf(match.command).slice(2)
          : `There is no command \`${wanted}\`. \`/help\` alone lists them all.`;
      return { kind: 'answer', text };
    }
    const lines = commands.map(lineOf);
    const text = [
      `Say anything to talk to ${settings.assistantName}. These are for you alone:`,
      lines.join('\n'),
      'In the terminal, Ctrl-D or `/exit` leaves.',
    ];
    return { kind: 'answer', text: text.join('\n\n') };
  },
};

import { type Command, defineCommand } from '../host/contracts/command.ts';
import { isCommandText, matchCommand, ownerCommands } from '../host/contracts/match-command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'help',
  help: 'lists these commands; with the name of one, only that',
  isQuick: true,
  async run({ commands, settings }, argument) {
    const lineOf = ({ name, help }: Command): string => `- \`/${name}\`: ${help}`;
    if (argument.trim() !== '') {
      const wanted = `/${argument.trim().replace(/^\//, '')}`;
      const match = isCommandText(wanted) ? matchCommand(wanted, commands) : null;
      const text =
        match?.kind === 'found'
          ? lineOf(match.command).slice(2)
          : `There is no command \`${wanted}\`. \`/help\` alone lists them all.`;
      return { kind: 'answer', text };
    }
    const text = [
      `Say anything to talk to ${settings.assistantName}. These are for you alone:`,
      ownerCommands(commands).map(lineOf).join('\n'),
      ...forMembers(commands.filter(({ scope }) => scope === 'members').map(lineOf)),
      'In the terminal, Ctrl-D or `/exit` leaves.',
    ];
    return { kind: 'answer', text: text.join('\n\n') };
  },
});

function forMembers(lines: readonly string[]): readonly string[] {
  return lines.length === 0
    ? []
    : ['These are for everybody in a registered chat:', lines.join('\n')];
}

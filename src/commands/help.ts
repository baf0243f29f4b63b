import { type Command, defineCommand } from '../host/contracts/command.ts';
import { isCommandText, matchCommand } from '../host/contracts/match-command.ts';
import { readSkillsToAdd, skillOfFile } from '../lib/skill-packages.ts';
import { fileOf } from '../lib/tree-fault.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'help',
  help: 'lists these commands; `/help model` tells of that one alone',
  isQuick: true,
  async run({ commands, settings, projectDir }, argument) {
    if (argument.trim() !== '') return { kind: 'answer', text: helpOn(argument.trim(), commands) };
    const known = commands.map((each) => ({ ...each, skill: skillOf(each, projectDir) }));
    const own = known.filter(({ scope }) => scope === 'owner');
    const text = [
      `Say anything to talk to ${settings.assistantName}. These are for you alone:`,
      linesOf(own.filter(({ skill }) => skill === null)),
      ...listed(
        'These too, by skills:',
        own.filter(({ skill }) => skill !== null),
      ),
      ...listed(
        'These are for everybody in a registered chat:',
        known.filter(({ scope }) => scope === 'members'),
      ),
      ...toAdd(readSkillsToAdd(projectDir)),
      'In the terminal, Ctrl-D or `/exit` leaves.',
    ];
    return { kind: 'answer', text: text.join('\n\n') };
  },
});

/** A command, and the skill that has brought it; null for those of the core. */
type Known = Pick<Command, 'name' | 'help'> & { readonly skill: string | null };

function skillOf(command: Command, projectDir: string): string | null {
  const file = fileOf(command);
  return file === null ? null : skillOfFile(projectDir, file);
}

function helpOn(typed: string, commands: readonly Command[]): string {
  const name = typed.replace(/^\//, '');
  const match = isCommandText(`/${name}`) ? matchCommand(`/${name}`, commands) : null;
  if (match?.kind === 'found') return lineOf({ ...match.command, skill: null });
  const begun = commands.filter((each) => each.name.startsWith(`${name.toLowerCase()}-`));
  if (begun.length > 0) return linesOf(begun.map((each) => ({ ...each, skill: null })));
  return `There is no command \`/${name}\`. \`/help\` alone lists them all.`;
}

function lineOf({ name, help, skill }: Known): string {
  return `\`/${name}\`${skill === null ? '' : ` (${skill})`}: ${help}`;
}

function linesOf(commands: readonly Known[]): string {
  return commands.map((each) => `- ${lineOf(each)}`).join('\n');
}

function listed(title: string, commands: readonly Known[]): readonly string[] {
  return commands.length === 0 ? [] : [title, linesOf(commands)];
}

function toAdd(skills: readonly string[]): readonly string[] {
  if (skills.length === 0) return [];
  const names = skills.map((name) => `\`/add-${name}\``).join(', ');
  return [`Skills that can be added: ${names}. \`/skills\` says what each does.`];
}

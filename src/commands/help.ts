import { type Command, defineCommand, TOPICS } from '../host/contracts/command.ts';
import { isCommandText, matchCommand } from '../host/contracts/match-command.ts';
import { readSkillsToAdd, skillOfFile } from '../lib/skill-packages.ts';
import { fileOf } from '../lib/tree-fault.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'help',
  topic: 'assistant',
  help: 'list the commands by topic; `/help chats` explains a topic, `/help model` one command, `/help all` all of them',
  complete: ({ commands }) => ['all', ...Object.keys(TOPICS), ...commands.map(({ name }) => name)],
  isQuick: true,
  async run({ commands, settings, projectDir }, argument) {
    const asked = argument.trim().toLowerCase();
    const known = commands.map((each) => ({ ...each, skill: skillOf(each, projectDir) }));
    const parts = partsOf(known);
    const part = parts.find(({ words }) => words.includes(asked));
    if (part !== undefined) {
      return { kind: 'answer', text: `${part.title}:\n\n${linesOf(part.commands)}` };
    }
    if (asked !== '' && asked !== 'all') {
      return { kind: 'answer', text: helpOn(argument.trim(), commands) };
    }
    const text =
      asked === 'all'
        ? [
            ...parts.map(({ title, commands: own }) => `**${title}**\n\n${linesOf(own)}`),
            ...toAdd(readSkillsToAdd(projectDir)),
          ]
        : [
            `Say anything to talk to ${settings.assistantName}, or one of these commands:`,
            parts.map(({ title, commands: own }) => `- **${title}**: ${namesOf(own)}`).join('\n'),
            '`/help chats` explains the commands under Chats, `/help model` one command, `/help all` all of them and the skills to add.',
          ];
    return { kind: 'answer', text: [...text, LEAVES].join('\n\n') };
  },
});

const LEAVES = 'In the terminal, Ctrl-D or `/exit` leaves.';

/** Commands that are shown together, and the words that ask for them. */
type Part = {
  readonly title: string;
  readonly words: readonly string[];
  readonly commands: readonly KnownCommand[];
};

function partsOf(known: readonly KnownCommand[]): readonly Part[] {
  const ofTopics = Object.entries(TOPICS).map(([topic, title]) => ({
    title,
    words: [topic, title.toLowerCase()],
    commands: known.filter((each) => each.topic === topic),
  }));
  const ofSkills = {
    title: 'From skills',
    words: ['from skills'],
    commands: known.filter(({ topic }) => topic === undefined),
  };
  return [...ofTopics, ofSkills].filter(({ commands }) => commands.length > 0);
}

function namesOf(commands: readonly KnownCommand[]): string {
  return commands.map(({ name }) => `\`/${name}\``).join(', ');
}

/** A command, and the skill that has brought it; null for those of the core. */
type KnownCommand = Pick<Command, 'name' | 'help' | 'topic' | 'scope'> & {
  readonly skill: string | null;
};

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
  return `There is no command \`/${name}\`. \`/help all\` lists them all.`;
}

function lineOf({ name, help, skill, scope }: KnownCommand): string {
  const notes = [
    ...(skill === null ? [] : [skill]),
    ...(scope === 'members' ? ['for everybody in a chat'] : []),
  ];
  return `\`/${name}\`${notes.length === 0 ? '' : ` (${notes.join(', ')})`}: ${help}`;
}

function linesOf(commands: readonly KnownCommand[]): string {
  return commands.map((each) => `- ${lineOf(each)}`).join('\n');
}

function toAdd(skills: readonly string[]): readonly string[] {
  if (skills.length === 0) return [];
  const names = skills.map((name) => `\`/add-${name}\``).join(', ');
  return [`Skills that can be added: ${names}. \`/skills\` says what each does.`];
}

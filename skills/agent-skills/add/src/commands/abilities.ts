import { defineCommand } from '../host/contracts/command.ts';
import {
  type ReportedSkill,
  readSkillReport,
  type SkillReport,
} from '../lib/agent-skills-report.ts';
import { shortened } from '../lib/graphemes.ts';
import { nearestNames } from '../lib/nearest-names.ts';

/** The most lines of a list in one answer. */
const MOST = 100;
const SHOWN = 110;

export const command = defineCommand({
  scope: 'owner',
  name: 'abilities',
  help: 'list the agent skills (SKILL.md) of this chat, what they need, and which are left out',
  chats: 'all',
  isQuick: true,
  async run({ settings, group }, argument) {
    const report = await readSkillReport(settings.dataDir, group.folder);
    const text =
      report === null
        ? 'I look for them when a turn begins, and none has begun here. Say anything to me, then `/abilities` again.'
        : argument === ''
          ? listOf(report, group.name)
          : detailsOf(report, argument.trim());
    return { kind: 'answer', text };
  },
});

function listOf({ skills, count }: SkillReport, chat: string): string {
  if (count === 0) return `${chat} has no agent skills.`;
  const usable = skills.filter(({ missing, leftOut }) => !leftOut && missing.length === 0);
  const reaching = usable.filter(({ beyond }) => beyond.length > 0);
  const lacking = skills.filter(({ missing, leftOut }) => !leftOut && missing.length > 0);
  const leftOut = skills.filter((skill) => skill.leftOut !== undefined);
  return [
    `Abilities of ${chat}, as of its last turn:`,
    usable.map((skill) => `- ${skill.name}${placeOf(skill)}: ${short(skill.description)}`),
    ...part(
      'The text of these asks for more than the container has, although they do not declare it:',
      reaching,
      ({ beyond }) => beyond.join(', '),
    ),
    ...part('Something is missing for these:', lacking, ({ missing }) => missing.join(', ')),
    ...part('Left out:', leftOut, ({ leftOut: reason = '' }) => reason),
    'Ask me for one in your own words; `/abilities <name>` tells more of it. `/skills` lists what changes my code.',
  ]
    .map((each) => (typeof each === 'string' ? each : cut(each).join('\n')))
    .filter((each) => each !== '')
    .join('\n\n');
}

function part(
  title: string,
  skills: readonly ReportedSkill[],
  told: (skill: ReportedSkill) => string,
): readonly (string | readonly string[])[] {
  if (skills.length === 0) return [];
  return [title, skills.map((skill) => `- ${skill.name}${placeOf(skill)}: ${told(skill)}`)];
}

function cut(lines: readonly string[]): readonly string[] {
  const more = lines.length - MOST;
  return more > 0 ? [...lines.slice(0, MOST), `- and ${more} more`] : lines;
}

function placeOf({ source, shadows }: ReportedSkill): string {
  if (source === 'bundled') return '';
  return shadows.length === 0 ? ` (${source})` : ` (${source}, in place of: ${shadows.join(', ')})`;
}

function short(text: string): string {
  const [sentence = ''] = /^.*?[.!?](?=\s|$)/.exec(text) ?? [text];
  return shortened(sentence, SHOWN);
}

/** Returns what the text of a skill asks for, which its rights do not grow by. */
function asked({ asks, beyond }: ReportedSkill): readonly (readonly [string, string])[] {
  if (asks === null) return [];
  return [
    ['its text runs', asks.programs.join(', ')],
    ['its text installs', asks.installs.join(', ')],
    ['its text names the hosts', asks.hosts.join(', ')],
    ['its text names the secrets', asks.secrets.join(', ')],
    ['its text uses files outside the chat', asks.files.join(', ')],
    ['its text sends', asks.sends.join(', ')],
    ['of that is not in the container', beyond.join(', ')],
  ];
}

function detailsOf({ skills }: SkillReport, name: string): string {
  const skill = skills.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (skill === undefined) {
    const names = skills.map((one) => one.name);
    const [close = null] = nearestNames(name, names, 1);
    return `There is no ability ${name} here.${close === null ? '' : ` Is it \`/abilities ${close}\`?`} \`/abilities\` lists them.`;
  }
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['left out', skill.leftOut],
    ['from', skill.source],
    ['folder, in the container', skill.folder],
    ['in place of', skill.shadows.join(', ')],
    ['missing', skill.missing.join(', ')],
    ...asked(skill),
    ['read', skill.always ? 'in every turn' : 'when it is needed'],
    ['made for', skill.compatibility],
    ['tools that it names', skill.allowedTools],
    ['licence', skill.license],
    ['note', skill.note],
  ];
  const lines = facts.flatMap(([title, text]) => (text ? [`- ${title}: ${text}`] : []));
  return [`**${skill.name}**`, skill.description, lines.join('\n')]
    .filter((each) => each !== '')
    .join('\n\n');
}

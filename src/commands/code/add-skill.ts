import { answer } from '../../host/changes/change.ts';
import { readArguments } from '../../host/changes/change-arguments.ts';
import { bringsOf } from '../../host/changes/plan.ts';
import {
  carryOutChange,
  type PreviewedChange,
  PreviewedRequest,
  previewChange,
  proposeChange,
} from '../../host/changes/preview.ts';
import { reportChange } from '../../host/changes/report.ts';
import {
  type CommandContext,
  type CommandResult,
  defineCommand,
} from '../../host/contracts/command.ts';
import { readSkillsToAdd } from '../../lib/skill-packages.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'add-<skill>',
  topic: 'code',
  help: 'add a skill to the code, after showing what it brings',
  complete: ({ projectDir }) => readSkillsToAdd(projectDir),
  isForAgents: true,
  async run(context, argument) {
    const given = readArguments(argument);
    if (given === null) return answer('Say `/add-` and the name of a skill: `/skills` lists them.');
    return await show(context, given.words, given.allow, '');
  },
  async propose(context, argument) {
    const given = readArguments(argument);
    return given === null ? null : await proposeChange(context, requestOf(given.words, []));
  },
  confirm(context, data) {
    const request = PreviewedRequest.parse(data);
    return carryOutChange(context, request, (note) =>
      show(context, request.args, request.allow, note),
    );
  },
  resume: reportChange,
});

function show(
  context: CommandContext,
  skills: readonly string[],
  allow: readonly string[],
  note: string,
): Promise<CommandResult> {
  return previewChange(context, requestOf(skills, allow), note);
}

function requestOf(skills: readonly string[], allow: readonly string[]): PreviewedChange {
  const named = skills.join(' ');
  return {
    verb: 'apply',
    args: skills,
    allow,
    title: (plan) => titleOf(bringsOf(plan).skills, skills),
    asks: 'always',
    typed: `/add-${named}`,
    question: skills.length === 1 ? 'Add it?' : 'Add them?',
    declined: `${named} was not added. Say \`/add-${named}\` when you want it.`,
  };
}

function titleOf(
  brought: readonly { name: string; version: string }[],
  named: readonly string[],
): string {
  const titles = named.map((skill) => {
    const found = brought.find(({ name }) => name === skill);
    return found === undefined ? skill : `${found.name} ${found.version}`;
  });
  return `${titles.join(', ')} ${titles.length === 1 ? 'brings' : 'bring'}:`;
}

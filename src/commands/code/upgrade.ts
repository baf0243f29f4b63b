import { answer, readTree } from '../../host/changes/change.ts';
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
import type { ClawResult } from '../../host/contracts/claw.ts';
import {
  type CommandContext,
  type CommandResult,
  defineCommand,
} from '../../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'upgrade',
  topic: 'code',
  help: 'move all skills in the code to the versions that are there now; `/upgrade telegram` moves one',
  isForAgents: true,
  async run(context, argument) {
    const given = readArguments(argument);
    if (given === null) return answer('Say `/upgrade`, or `/upgrade` and the name of a skill.');
    return await show(context, given.words, given.allow, '');
  },
  async propose(context, argument) {
    const given = readArguments(argument);
    const { applied } = await readTree(context);
    if (given === null || applied.length === 0) return null;
    return await proposeChange(context, requestOf(given.words, [], applied));
  },
  confirm(context, data) {
    const request = PreviewedRequest.parse(data);
    return carryOutChange(context, request, (note) =>
      show(context, request.args, request.allow, note),
    );
  },
  resume: reportChange,
});

async function show(
  context: CommandContext,
  skills: readonly string[],
  allow: readonly string[],
  note: string,
): Promise<CommandResult> {
  const { applied } = await readTree(context);
  if (applied.length === 0)
    return answer('There is no skill in the code yet: `/skills` lists what can be added.');
  return await previewChange(context, requestOf(skills, allow, applied), note);
}

function requestOf(
  skills: readonly string[],
  allow: readonly string[],
  applied: AppliedLayers,
): PreviewedChange {
  const typed = ['/upgrade', ...skills].join(' ');
  return {
    verb: 'upgrade',
    args: skills,
    allow,
    title: (plan) => titleOf(plan, applied),
    asks: 'always',
    typed,
    question: 'Upgrade?',
    declined: `Nothing was upgraded. Say \`${typed}\` when you want it.`,
  };
}

type AppliedLayers = readonly { readonly name: string; readonly version: string }[];

/** Returns the skills with their old and new versions, as a title. */
function titleOf(plan: ClawResult, applied: AppliedLayers): string {
  const steps = bringsOf(plan).skills.flatMap(({ name, version }) => {
    const before = applied.find((one) => one.name === name)?.version;
    return before === undefined || before === version ? [] : [`${name} ${before} → ${version}`];
  });
  return steps.length === 0 ? 'Upgrading:' : `${steps.join(', ')}:`;
}

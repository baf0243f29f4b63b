import { answer, readTree } from '../../host/changes/change.ts';
import { readArguments } from '../../host/changes/change-arguments.ts';
import {
  carryOutChange,
  type PreviewedChange,
  PreviewedRequest,
  previewChange,
  proposeChange,
} from '../../host/changes/preview.ts';
import { pendingText, refusalOf } from '../../host/changes/refusal.ts';
import {
  findNewestRelease,
  retirementQuestion,
  updateTitle,
} from '../../host/changes/release-update.ts';
import { reportChange } from '../../host/changes/report.ts';
import type { ClawResult } from '../../host/contracts/claw.ts';
import { type CommandContext, defineCommand } from '../../host/contracts/command.ts';
import type { NewestRelease } from '../../host/contracts/git.ts';

const OPTIONS = {
  '--retire-contained': 'alone',
  '--keep': 'with a word',
  '--moved': 'with a word',
} as const;
const USAGE = 'Say `/update` for the newest release, or `/update v2.0.0` for a certain one.';

export const command = defineCommand({
  scope: 'owner',
  name: 'update',
  topic: 'code',
  help: 'move to a newer release with your skills and edits, after showing what changes',
  isForAgents: true,
  async run(context, argument) {
    const given = readArguments(argument, OPTIONS);
    const [wanted, more] = given?.words ?? [];
    if (given === null || more !== undefined) return answer(USAGE);
    const { state, coreVersion, pending, refusal: unreadable } = await readTree(context);
    if (unreadable !== null) return answer(unreadable);
    if (pending !== null) {
      return answer(pendingText({ verb: pending.verb, args: pending.arguments }));
    }
    // What the core is has to be known before another one can take its place.
    const taken = state === null ? await context.claw(['init', '--yes']) : null;
    const refusal = taken === null ? null : refusalOf(taken);
    if (refusal !== null) return answer(refusal);
    const present = coreVersion ?? (await readTree(context)).coreVersion;
    const found = await releaseOf(context, wanted, present);
    if (found.kind === 'none') return answer(found.text);
    return await previewChange(context, requestOf({ ref: found.ref, ...given }));
  },
  async propose(context, argument) {
    const given = readArguments(argument, OPTIONS);
    const [wanted, more] = given?.words ?? [];
    const { state, coreVersion, pending, refusal } = await readTree(context);
    // Only the owner can say what the core is: where they have not, they are asked before it is taken.
    const isKnown = refusal === null && pending === null && state !== null;
    if (given === null || more !== undefined || !isKnown) return null;
    const found = await releaseOf(context, wanted, coreVersion);
    if (found.kind === 'none') return null;
    return await proposeChange(context, requestOf({ ref: found.ref, ...given }));
  },
  async confirm(context, data) {
    const request = PreviewedRequest.parse(data);
    const [ref = ''] = request.args;
    return carryOutChange(context, request, (note) =>
      previewChange(context, requestOf({ ...request, ref }), note),
    );
  },
  resume: reportChange,
});

type WantedRelease = {
  readonly ref: string;
  readonly options: readonly string[];
  readonly allow: readonly string[];
};

/** Returns the release that was named, or the newest one. */
async function releaseOf(
  { git }: CommandContext,
  wanted: string | undefined,
  present: string | null,
): Promise<NewestRelease> {
  return wanted === undefined
    ? await findNewestRelease(git, present)
    : { kind: 'found', ref: wanted };
}

function requestOf({ ref, options, allow }: WantedRelease): PreviewedChange {
  const said = options.map((option) => option.replace(/^--/, ''));
  const typed = ['/update', ref, ...said].join(' ');
  return {
    verb: 'update',
    args: [ref],
    options,
    allow,
    title: updateTitle,
    asks: 'always',
    typed,
    question: 'Nothing is changed yet. Go on with this update?',
    declined: `The core stays as it is. Say \`${typed}\` when you want it.`,
    asksFirst: (plan: ClawResult) => retirementQuestion(plan, typed),
  };
}

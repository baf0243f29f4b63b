import { readArguments } from '../change/arguments.ts';
import { answer, readTree } from '../change/change.ts';
import { findNewestRelease } from '../change/newest-release.ts';
import { carryOutChange, PreviewedWish, previewChange } from '../change/preview.ts';
import { pendingText, refusalOf } from '../change/refusal.ts';
import { reportChange } from '../change/report.ts';
import { updateTitle } from '../change/update-title.ts';
import type { CommandContext, CommandResult, OwnerCommand } from '../command.ts';

const USAGE = 'Say `/update` for the newest release, or `/update v2.0.0` for a certain one.';

export const command: OwnerCommand = {
  name: 'update',
  help: 'brings a newer core under your skills and edits, after showing what changes',
  isForAgents: true,
  async run(context, argument) {
    const given = readArguments(argument);
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
    const found =
      wanted === undefined
        ? await findNewestRelease(context.git, present)
        : { kind: 'found' as const, ref: wanted };
    if (found.kind === 'none') return answer(found.text);
    return await show(context, found.ref, given.allow, '');
  },
  confirm(context, data) {
    const wish = PreviewedWish.parse(data);
    const [ref = ''] = wish.args;
    return carryOutChange(context, wish, (note) => show(context, ref, wish.allow, note));
  },
  resume: reportChange,
};

function show(
  context: CommandContext,
  ref: string,
  allow: readonly string[],
  note: string,
): Promise<CommandResult> {
  const wish = {
    verb: 'update',
    args: [ref],
    allow,
    title: updateTitle,
    asks: 'always',
    typed: `/update ${ref}`,
    question: 'Nothing is changed yet. Go on with this update?',
    declined: `The core stays as it is. Say \`/update ${ref}\` when you want it.`,
  } as const;
  return previewChange(context, wish, note);
}

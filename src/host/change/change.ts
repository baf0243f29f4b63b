import { z } from 'zod';
import type { ClawResult } from '../claw.ts';
import type { CommandContext, CommandResult } from '../command.ts';
import { bringsOf } from './plan.ts';
import { relayProgress } from './progress.ts';
import { refusalOf } from './refusal.ts';

/** A change of the code that was begun, as the process that finishes it finds it. */
export const Change = z.object({
  verb: z.enum(['apply', 'remove', 'undo']),
  /** Null for an undo. */
  skill: z.string().nullable(),
  /** What was applied before, by name: tells a change that happened from one that did not. */
  before: z.array(z.string()),
  /** Those it brought that have no default. */
  settings: z.array(z.string()),
  files: z.int(),
});
export type Change = z.output<typeof Change>;

/**
 * Changes the code by a `claw` command and asks for the restart onto it. Every step is said in the
 * chat. What is kept before and after lets a later process tell how it ended, wherever this one dies.
 */
export async function carryOutChange(
  context: CommandContext,
  { verb, skill }: Pick<Change, 'verb' | 'skill'>,
): Promise<CommandResult> {
  const before = (await appliedSkills(context)).map(({ name }) => name);
  const begun: Change = { verb, skill, before, settings: [], files: 0 };
  context.keep(begun);
  const progress = relayProgress(context.say, context.progressMs);
  const args = [verb, ...(skill === null ? [] : [skill]), '--yes'];
  const result = await context.claw(args, (line) => progress.line(line));
  progress.end();
  const refusal = refusalOf(result);
  if (refusal !== null) return { kind: 'answer', text: refusal };
  if (result.outcome === 'nothing') return { kind: 'answer', text: nothingText(begun) };
  for (const warning of result.warnings) context.say(`Note: ${warning}`);
  return { kind: 'restart', data: changed(begun, result) };
}

function changed(begun: Change, result: ClawResult): Change {
  return { ...begun, settings: bringsOf(result).requiredSettings, files: result.changes.length };
}

function nothingText({ verb, skill }: Change): string {
  if (verb === 'apply') return `${skill} is in already.`;
  return verb === 'undo' ? 'There is nothing to undo.' : `${skill} is not in.`;
}

const Applied = z.array(z.looseObject({ name: z.string(), version: z.string() })).catch([]);

/** The skills that are in the code now. */
export async function appliedSkills({ claw }: Pick<CommandContext, 'claw'>) {
  return Applied.parse((await claw(['list'])).data);
}

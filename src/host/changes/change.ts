import { StatusData } from '@patchclaw/claw/contract';
import { z } from 'zod';
import { type ClawResult, dataBy } from '../contracts/claw.ts';
import type { CommandContext, CommandResult } from '../contracts/command.ts';
import { runClawWithProgress } from './claw-with-progress.ts';
import { bringsOf } from './plan.ts';
import { isBlocked, refusalOf } from './refusal.ts';
import type { WaitingOperation } from './waiting-operation.ts';

/** A change of the code that was begun, as the process that finishes it finds it. */
export const StartedChange = z.object({
  /** The verb of `claw`: `apply`, `remove`, `upgrade`, `update`, `undo`. */
  verb: z.string(),
  /** Skills, or the release. */
  args: z.array(z.string()),
  /** The layers applied before, and the composition's name: they tell whether the change happened. */
  before: z.array(z.string()),
  state: z.string().nullable(),
  /** Settings that it brings and that have no default; of a removal, those that go with it. */
  settings: z.array(z.string()),
  /** The number of files that it changed; null while that is not known. */
  files: z.int().nullable(),
});
export type StartedChange = z.output<typeof StartedChange>;

/** A requested change: a verb of `claw` with its arguments, and the plan that the owner has seen. */
export type ChangeRequest = {
  readonly verb: string;
  readonly args: readonly string[];
  /** Further options of the verb: `--retire-contained`. */
  readonly options?: readonly string[];
  /** Paths that the owner named because they run or steer programs. */
  readonly allow?: readonly string[];
  readonly plan?: string | null;
  /** Warnings that the owner has read with it. */
  readonly seen?: readonly string[];
};

/** The end of a change, where the assistant does not restart onto it. */
export type ChangeEnd =
  | { readonly kind: 'restart'; readonly data: StartedChange }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'refused'; readonly code: string | null; readonly text: string };

/**
 * Changes the code by a `claw` command and asks for the restart onto it. Every step is said in the
 * chat. What is kept before and after lets a later process tell how it ended, wherever this one dies.
 *
 * @param by the command that does it, where that is not the verb itself: `continue`
 */
export async function carryOut(
  context: CommandContext,
  request: ChangeRequest,
  by: readonly string[] = [request.verb, ...request.args, ...(request.options ?? [])],
): Promise<ChangeEnd> {
  const { state, applied } = await readTree(context);
  const layers = applied.map(({ name }) => name);
  const begun = beginChange(context, { ...request, installed: { state, layers } });
  const { allow = [], plan = null, seen = [] } = request;
  const result = await runClawWithProgress(context, [
    ...by,
    '--yes',
    ...allow.flatMap((path) => ['--allow', path]),
    ...(plan === null ? [] : ['--expect', plan]),
  ]);
  if (isBlocked(result)) return { kind: 'blocked' };
  const refusal = refusalOf(result);
  if (refusal !== null) {
    return { kind: 'refused', code: result.error?.code ?? null, text: refusal };
  }
  if (result.outcome === 'nothing') {
    return { kind: 'refused', code: null, text: nothingText(begun) };
  }
  for (const warning of result.warnings) {
    if (!seen.includes(warning)) context.say(`Note: ${warning}`);
  }
  return { kind: 'restart', data: changed(begun, result) };
}

/** Keeps how things are before a change, for the process that may have to tell how it ended. */
export function beginChange(
  context: CommandContext,
  { verb, args, installed }: Pick<WaitingOperation, 'verb' | 'args' | 'installed'>,
): StartedChange {
  const { state, layers } = installed;
  const before = [...layers];
  const begun: StartedChange = { verb, args: [...args], before, state, settings: [], files: null };
  context.keep(begun);
  return begun;
}

/** Returns the result of a command whose change has ended in words. */
export function answer(text: string): CommandResult {
  return { kind: 'answer', text };
}

function changed(begun: StartedChange, result: ClawResult): StartedChange {
  const { requiredSettings, settingsGone } = bringsOf(result);
  const settings = begun.verb === 'remove' ? settingsGone : requiredSettings;
  return { ...begun, settings, files: result.changes.length };
}

function nothingText({ verb, args }: StartedChange): string {
  const what = args.join(', ');
  if (verb === 'apply') return `${what} is in already.`;
  if (verb === 'remove') return `${what} is not in.`;
  if (verb === 'upgrade') return 'There is no newer version here.';
  return verb === 'undo' ? 'There is nothing to undo.' : 'There is nothing to change.';
}

/**
 * Reads the present release and layers; `state` names the composition, and is null before the first change.
 * With a `refusal`, which says why they cannot be read, the rest is empty.
 */
export async function readTree({ claw }: Pick<CommandContext, 'claw'>) {
  const result = await claw(['status']);
  const tree = dataBy(StatusData, result);
  return {
    state: tree?.state ?? null,
    coreVersion: tree?.core?.version ?? null,
    applied: tree?.layers ?? [],
    pending: tree?.pending ?? null,
    refusal: refusalOf(result),
  };
}

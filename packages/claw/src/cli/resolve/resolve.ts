import * as engine from '../../verbs.ts';
import { ClawError, type EngineContext, type VerbResult } from '../../verbs.ts';
import type { Invocation } from '../edition.ts';

/** Options of `claw resolve`. */
export type ResolveOptions = {
  readonly ours?: boolean;
  readonly theirs?: boolean;
  readonly take?: string;
  readonly both?: string;
  readonly choose?: string;
  readonly with?: string;
  readonly recording?: string;
  readonly moved?: string;
  readonly agent?: boolean;
  readonly all?: boolean;
  readonly answers?: string;
};

/**
 * `claw resolve`: by an option, by the model, by asking on a terminal, else by the text that the owner
 * finished in `.claw/pending/`.
 *
 * @throws ClawError USAGE where it takes a path and none is given
 */
export async function resolveVerb(
  { ui, additions, options: { json, yes } }: Invocation,
  context: EngineContext,
  path: string | null,
  options: ResolveOptions,
): Promise<VerbResult<'resolve' | 'continue'>> {
  refuseTwo(path, options);
  if (options.answers !== undefined) return await engine.resolveByAnswers(context, options.answers);
  if (options.agent) return await engine.resolveByModel(context, path);
  const choice = choiceOf(options);
  if (options.all) {
    if (choice?.kind === 'word' || choice?.kind === 'take' || choice?.kind === 'both-by') {
      return await engine.resolveAll(context, choice);
    }
    throw new ClawError(
      'USAGE',
      'Say how: --all with --take, --ours, --theirs, --both or --agent.',
    );
  }
  if (choice === null && options.moved === undefined && ui.canAsk && !json && !yes) {
    const { askAboutConflicts } = await import('./dialog.ts');
    return await askAboutConflicts(context, { ui, additions }, path);
  }
  if (path === null) {
    const waiting = await engine.conflicts(context);
    if (waiting.data?.operation === null) {
      const { nothingToResolve } = await import('./dialog.ts');
      return nothingToResolve(waiting.warnings);
    }
    const others =
      'For all that is open: --all with --take, --ours, --theirs or --both; or --answers FILE.';
    throw new ClawError('USAGE', `Name the path to resolve: claw conflicts lists them. ${others}`);
  }
  if (options.moved !== undefined) return await engine.resolveMoved(context, path, options.moved);
  return await engine.resolve(context, path, choice ?? { kind: 'edited' });
}

function refuseTwo(path: string | null, { all, answers }: ResolveOptions): void {
  const option = all ? '--all' : answers === undefined ? null : '--answers';
  if (path === null || option === null) return;
  throw new ClawError('USAGE', `${option} takes no path. Leave out ${path}, or ${option}.`);
}

function choiceOf({
  take,
  ours,
  theirs,
  both,
  choose,
  with: given,
  recording,
}: ResolveOptions): engine.Choice | null {
  if (take !== undefined) return { kind: 'take', layer: take };
  if (ours) return { kind: 'word', word: 'ours' };
  if (theirs) return { kind: 'word', word: 'theirs' };
  if (both !== undefined) return { kind: 'both-by', first: both };
  if (choose !== undefined) return chosenBy(choose);
  if (given !== undefined) return { kind: 'with', given };
  return recording === undefined ? null : { kind: 'recording', key: recording };
}

/** Reads `1,3` as numbers, and a word as a rule. */
function chosenBy(text: string): engine.Choice {
  if (!/^[\d,\s]+$/.test(text)) return { kind: 'rule', rule: text.trim() };
  return { kind: 'numbers', numbers: text.split(',').map(Number) };
}

import * as engine from '../engine/index.ts';
import { ClawError, type EngineContext, type VerbResult } from '../engine/index.ts';
import type { Invocation } from './main.ts';

/** How `claw resolve` was told to settle a conflict. */
export type ResolveOptions = {
  readonly ours?: boolean;
  readonly theirs?: boolean;
  readonly both?: 'ours' | 'theirs';
  readonly with?: string;
  readonly recording?: string;
  readonly agent?: boolean;
};

/**
 * `claw resolve`: by an option, by the model, by asking on a terminal, else by the text that the owner
 * finished in `.claw/pending/`.
 *
 * @throws ClawError USAGE where it takes a path and none is given
 */
export async function resolveVerb(
  { ui, options: { json, yes } }: Invocation,
  context: EngineContext,
  path: string | null,
  options: ResolveOptions,
): Promise<VerbResult> {
  if (options.agent) return await engine.resolveByModel(context, path);
  const choice = choiceOf(options);
  if (choice === null && ui.canAsk && !json && !yes) {
    const { askAboutConflicts } = await import('./resolve-dialog.ts');
    return await askAboutConflicts(context, ui, path);
  }
  if (path === null) {
    throw new ClawError('USAGE', 'Name the path to resolve: claw conflicts lists them.');
  }
  return await engine.resolve(context, path, choice ?? { kind: 'edited' });
}

function choiceOf({
  ours,
  theirs,
  both,
  with: given,
  recording,
}: ResolveOptions): engine.Choice | null {
  if (ours) return { kind: 'ours' };
  if (theirs) return { kind: 'theirs' };
  if (both !== undefined) return { kind: 'both', first: both };
  if (given !== undefined) return { kind: 'with', given };
  return recording === undefined ? null : { kind: 'recording', key: recording };
}

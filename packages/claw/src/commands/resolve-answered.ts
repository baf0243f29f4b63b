import type { VerbResult } from '../contract/result.ts';
import type { Answers } from '../decisions/answers.ts';
import type { EngineContext } from '../operation/context.ts';
import { saveDecisions } from '../pending/waiting.ts';
import { requireWaiting, resolvedMany, withDecisions } from './resolve.ts';

/**
 * Resolves conflicts of the waiting operation, each in its own way, moves among them: all of them or none.
 *
 * @throws ClawError what `resolveConflict` and `resolveMoved` do, for the first one that does not fit
 */
export async function resolveAnswered(
  context: EngineContext,
  { choices, moves }: Answers,
): Promise<VerbResult<'resolve'>> {
  const waiting = requireWaiting(context.root);
  const decisions = await withDecisions(context, waiting, choices);
  const paths = [...choices.keys(), ...moves.keys()];
  if (moves.size > 0) {
    // Loaded where a file moved: to answer the others, nothing is planned.
    const { planMoved } = await import('./resolve-moved.ts');
    return resolvedMany(paths, await planMoved(context, waiting, { decisions, moves }), decisions);
  }
  if (paths.length > 0) saveDecisions(context.root, decisions);
  return resolvedMany(paths, waiting.conflicts, decisions);
}

import type { Decision } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import { resultOf, type VerbResult } from '../contract/result.ts';
import type { Answers } from '../decisions/answers.ts';
import { isDecided } from '../decisions/decide.ts';
import { ClawError } from '../errors.ts';
import type { EngineContext } from '../operation/context.ts';
import { keepWaiting } from '../operation/operation.ts';
import { keptOptions, updateOptionsOf } from '../operation/update-options.ts';
import { saveDecisions, type Waiting } from '../pending/waiting.ts';
import { planningOf, planPending } from './continue.ts';
import { requireConflict, requireWaiting, resolvedMany, withDecisions } from './resolve.ts';

/**
 * Resolves a conflict of an update by saying where the release moved the file. The update is planned again
 * with that, so that what meets at the new place is open, or resolved; other decisions stay.
 *
 * @throws ClawError USAGE where no update waits, or where the release has no such file
 */
export async function resolveMoved(
  context: EngineContext,
  path: string,
  to: string,
): Promise<VerbResult<'resolve'>> {
  const waiting = requireWaiting(context.root);
  const { decisions } = waiting;
  const conflicts = await planMoved(context, waiting, { decisions, moves: new Map([[path, to]]) });
  const open = conflicts.filter((one) => !isDecided(one, decisions)).map((one) => one.path);
  return resultOf('resolve', 'done', { data: { path, origin: 'owner', open } });
}

/**
 * Resolves conflicts of the waiting operation, each in its own way, moves among them: all of them or none.
 *
 * @throws ClawError what `resolveConflict` and {@link resolveMoved} do, for the first one that does not fit
 */
export async function resolveAnswered(
  context: EngineContext,
  { choices, moves }: Answers,
): Promise<VerbResult<'resolve'>> {
  const waiting = requireWaiting(context.root);
  const decisions = withDecisions(context, waiting, choices);
  const paths = [...choices.keys(), ...moves.keys()];
  if (moves.size > 0) {
    return resolvedMany(paths, await planMoved(context, waiting, { decisions, moves }), decisions);
  }
  if (paths.length > 0) saveDecisions(context.root, decisions);
  return resolvedMany(paths, waiting.conflicts, decisions);
}

type Moved = {
  readonly decisions: readonly Decision[];
  readonly moves: ReadonlyMap<string, string>;
};

/** Plans the waiting update again, and lets that wait. @returns its conflicts */
async function planMoved(
  context: EngineContext,
  waiting: Waiting,
  { decisions, moves }: Moved,
): Promise<readonly Conflict[]> {
  const { pending } = waiting;
  if (pending.verb !== 'update') {
    throw new ClawError('USAGE', `Only an update moves files; "${pending.verb}" waits here.`);
  }
  for (const path of moves.keys()) requireConflict(waiting, path);
  const given = updateOptionsOf(pending.options);
  const moved = [...given.moved, ...[...moves].map(([path, to]) => `${path}=${to}`)];
  const planning = planningOf(context, pending, decisions);
  const options = keptOptions({ ...given, moved });
  const operation = await planPending(planning, { ...pending, options });
  return keepWaiting(planning, operation);
}

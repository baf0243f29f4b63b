import type { Decision } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import { resultOf, type VerbResult } from '../contract/result.ts';
import { isDecided } from '../decisions/decide.ts';
import { ClawError } from '../errors.ts';
import type { EngineContext } from '../operation/context.ts';
import { keepWaiting } from '../operation/operation.ts';
import { keptOptions, updateOptionsOf } from '../operation/update-options.ts';
import type { Waiting } from '../pending/waiting.ts';
import { planningOf, planPending } from './continue.ts';
import { requireConflict, requireWaiting } from './resolve.ts';

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

type Moved = {
  readonly decisions: readonly Decision[];
  readonly moves: ReadonlyMap<string, string>;
};

/** Plans the waiting update again, and lets that wait. @returns its conflicts */
export async function planMoved(
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

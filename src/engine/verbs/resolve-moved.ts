import { ClawError } from '../errors.ts';
import { type EngineContext, resultOf, type VerbResult } from './context.ts';
import { planningOf, planPending } from './continue.ts';
import { isDecided } from './decide.ts';
import { keepWaiting } from './operation.ts';
import { requireConflict, requireWaiting } from './resolve.ts';
import { keptOptions, updateOptionsOf } from './update-options.ts';

/**
 * Settles a conflict of an update by saying where the release moved the file. The update is planned again
 * with that, so that what meets at the new place is open, or settled; other decisions stay.
 *
 * @throws ClawError USAGE where no update waits, or where the release has no such file
 */
export async function resolveMoved(
  context: EngineContext,
  path: string,
  to: string,
): Promise<VerbResult> {
  const waiting = requireWaiting(context.root);
  const { pending, decisions } = waiting;
  if (pending.verb !== 'update') {
    throw new ClawError('USAGE', `Only an update moves files; "${pending.verb}" waits here.`);
  }
  requireConflict(waiting, path);
  const given = updateOptionsOf(pending.options);
  const options = keptOptions({ ...given, moved: [...given.moved, `${path}=${to}`] });
  const planning = planningOf(context, pending, decisions);
  const operation = await planPending(planning, { ...pending, options });
  const conflicts = keepWaiting(planning, operation);
  const open = conflicts.filter((one) => !isDecided(one, decisions)).map((one) => one.path);
  return resultOf('resolve', 'done', { data: { path, origin: 'owner', open } });
}

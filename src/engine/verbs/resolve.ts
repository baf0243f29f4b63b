import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import { isSameSubject } from '../state/resolution.ts';
import { type EngineContext, resultOf, type VerbResult } from './context.ts';
import { type Choice, decide, isDecided } from './decide.ts';
import { readWaiting, refuseOtherState, saveDecisions, type Waiting } from './pending.ts';

/**
 * Settles one conflict of the waiting operation; nothing is published before `continue`.
 *
 * @param path as `conflicts` names it, `docker-compose.yml#services.redis.ports` for a key
 * @throws ClawError USAGE where nothing waits or that path is in no conflict, MARKERS_PRESENT
 */
export function resolveConflict(context: EngineContext, path: string, choice: Choice): VerbResult {
  const waiting = requireWaiting(context.root);
  const conflict = requireConflict(waiting, path);
  const decision = decide(context, conflict, choice);
  const others = waiting.decisions.filter((one) => !isSameSubject(one.subject, decision.subject));
  const decisions = [...others, decision];
  saveDecisions(context.root, decisions);
  const open = waiting.conflicts.filter((one) => !isDecided(one, decisions));
  const data = { path, origin: decision.origin, open: open.map((one) => one.path) };
  return resultOf('resolve', 'done', { data });
}

/** @throws ClawError USAGE where nothing waits, STATE_CHANGED */
export function requireWaiting(root: string): Waiting {
  const waiting = readWaiting(root);
  if (waiting === null) throw new ClawError('USAGE', 'No operation waits for decisions.');
  refuseOtherState(root, waiting);
  return waiting;
}

/** @throws ClawError USAGE with the paths in conflict in `data.paths` */
export function requireConflict({ conflicts }: Waiting, path: string): Conflict {
  const found = conflicts.find((conflict) => conflict.path === path);
  if (found !== undefined) return found;
  const paths = conflicts.map((conflict) => conflict.path);
  throw new ClawError('USAGE', `${path} is in no conflict. These are: ${paths.join(', ')}.`, {
    path,
    data: { paths },
  });
}

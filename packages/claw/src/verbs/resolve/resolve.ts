import type { Decision } from '../../compose/resolve-conflict.ts';
import type { Conflict } from '../../conflict.ts';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import type { Answers } from '../../decisions/answers.ts';
import type { Choice } from '../../decisions/choice.ts';
import { canBeDecided, decide, isDecided, plainChoice } from '../../decisions/decide.ts';
import { rolesIn } from '../../decisions/named-side.ts';
import { ClawError } from '../../errors.ts';
import { isSameSubject } from '../../installed/resolution.ts';
import { readState } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { keepWaiting } from '../../operation/operation.ts';
import { keptOptions, updateOptionsOf } from '../../operation/update-options.ts';
import {
  readWaiting,
  refuseOtherState,
  saveDecisions,
  type Waiting,
} from '../../pending/waiting.ts';

/**
 * Resolves one conflict of the waiting operation; nothing is published before `continue`.
 *
 * @param path as `conflicts` names it, `docker-compose.yml#services.redis.ports` for a key
 * @throws ClawError USAGE where nothing waits or that path is in no conflict, MARKERS_PRESENT
 */
export async function resolveConflict(
  context: EngineContext,
  path: string,
  choice: Choice,
): Promise<VerbResult<'resolve'>> {
  const waiting = requireWaiting(context.root);
  const conflict = requireConflict(waiting, path);
  const roles = rolesIn(waiting.pending, readState(context.root));
  const decision = decide(context, conflict, await plainChoice(conflict, choice, roles));
  const others = waiting.decisions.filter((one) => !isSameSubject(one.subject, decision.subject));
  const decisions = [...others, decision];
  saveDecisions(context.root, decisions);
  const open = waiting.conflicts.filter((one) => !isDecided(one, decisions));
  const data = { path, origin: decision.origin, open: open.map((one) => one.path) };
  return resultOf('resolve', 'done', { data });
}

/**
 * Resolves every open conflict of the waiting operation in the same way. Conflicts that the choice does not fit stay
 * open, and a warning says why.
 *
 * @throws ClawError what {@link resolveConflict} does, where the choice fits none
 */
export async function resolveAll(
  context: EngineContext,
  choice: Choice,
): Promise<VerbResult<'resolve'>> {
  const waiting = requireWaiting(context.root);
  const { conflicts } = waiting;
  const open = conflicts.filter((one) => !isDecided(one, waiting.decisions) && canBeDecided(one));
  let { decisions } = waiting;
  const decided: string[] = [];
  const refusals: ClawError[] = [];
  for (const { path } of open) {
    try {
      const choices = new Map([[path, choice]]);
      decisions = await withDecisions(context, { ...waiting, decisions }, choices);
      decided.push(path);
    } catch (error) {
      if (!(error instanceof ClawError)) throw error;
      refusals.push(error);
    }
  }
  const [first] = refusals;
  if (first !== undefined && decided.length === 0) throw first;
  if (decided.length > 0) saveDecisions(context.root, decisions);
  const result = resolvedMany(decided, conflicts, decisions);
  const warnings = refusals.map(({ message }) => message);
  return { ...result, warnings: [...result.warnings, ...warnings] };
}

/**
 * Returns the decisions of the waiting operation together with the owner's new ones; saves none.
 *
 * @param choices by path, as `conflicts` names it
 * @throws ClawError what {@link resolveConflict} does, for the first one that does not fit
 */
export async function withDecisions(
  context: EngineContext,
  waiting: Waiting,
  choices: ReadonlyMap<string, Choice>,
): Promise<readonly Decision[]> {
  const made: Decision[] = [];
  const roles = rolesIn(waiting.pending, readState(context.root));
  for (const [path, choice] of choices) {
    const conflict = requireConflict(waiting, path);
    made.push(decide(context, conflict, await plainChoice(conflict, choice, roles)));
  }
  const others = waiting.decisions.filter(
    (one) => !made.some(({ subject }) => isSameSubject(one.subject, subject)),
  );
  return [...others, ...made];
}

/** Reports what was decided by path, and what is open still. */
export function resolvedMany(
  paths: readonly string[],
  conflicts: readonly Conflict[],
  decisions: readonly Decision[],
): VerbResult<'resolve'> {
  const open = conflicts.filter((one) => !isDecided(one, decisions));
  const data = {
    path: paths.length === 0 ? null : paths.join(', '),
    paths,
    open: open.map((one) => one.path),
  };
  return resultOf('resolve', paths.length === 0 ? 'nothing' : 'done', { data });
}

/** The message of `resolve` for a path that has nothing to decide. */
const NOTHING_WAITS =
  'Nothing waits for a decision. A command that meets conflicts waits here until you resolve them.';

/** @throws ClawError USAGE where nothing waits, STATE_CHANGED */
export function requireWaiting(root: string): Waiting {
  const waiting = readWaiting(root);
  if (waiting === null) throw new ClawError('USAGE', NOTHING_WAITS);
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

/**
 * Resolves a conflict of an update by saying where the release moved the file. The update is planned again with that,
 * so that conflicts at the new place are open or resolved; other decisions stay.
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

type MovedDecisions = {
  readonly decisions: readonly Decision[];
  readonly moves: ReadonlyMap<string, string>;
};

/** Plans the waiting update again, and lets that wait. @returns its conflicts */
async function planMoved(
  context: EngineContext,
  waiting: Waiting,
  { decisions, moves }: MovedDecisions,
): Promise<readonly Conflict[]> {
  const { pending } = waiting;
  if (pending.verb !== 'update') {
    throw new ClawError('USAGE', `Only an update moves files; "${pending.verb}" waits here.`);
  }
  for (const path of moves.keys()) requireConflict(waiting, path);
  // Loaded where a file moved: to answer the others, nothing is planned.
  const { planningOf, planPending } = await import('../continue.ts');
  const given = updateOptionsOf(pending.options);
  const moved = [...given.moved, ...[...moves].map(([path, to]) => `${path}=${to}`)];
  const planning = planningOf(context, pending, decisions);
  const options = keptOptions({ ...given, moved });
  const operation = await planPending(planning, { ...pending, options });
  return keepWaiting(planning, operation);
}

/**
 * Resolves conflicts of the waiting operation, each in its own way, including moves: all of them or none.
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
    return resolvedMany(paths, await planMoved(context, waiting, { decisions, moves }), decisions);
  }
  if (paths.length > 0) saveDecisions(context.root, decisions);
  return resolvedMany(paths, waiting.conflicts, decisions);
}

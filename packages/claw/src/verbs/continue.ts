import type { Decision } from '../compose/resolve-conflict.ts';
import type { DataOf } from '../contract/result.ts';
import { resultOf, type VerbResult } from '../contract/result.ts';
import { decideEdited } from '../decisions/decide.ts';
import type { EngineContext, PlanningContext } from '../operation/context.ts';
import { carryOut } from '../operation/operation.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { updateOptionsOf } from '../operation/update-options.ts';
import type { Pending } from '../pending/pending.ts';
import { readWaiting, refuseOtherState } from '../pending/waiting.ts';
import { planVerb } from './plan.ts';
import { undo } from './undo.ts';

/**
 * Plans the waiting operation again with the decisions, and carries it out. It keeps waiting if conflicts are still
 * open, or if a decision caused new ones; earlier decisions are kept.
 *
 * @param options with `isTrial` it is proved and keeps waiting, whatever comes of it
 * @throws ClawError STATE_CHANGED where it was planned on another `state.yaml`
 */
export async function continueOperation(
  context: EngineContext,
  { isTrial = false }: { readonly isTrial?: boolean } = {},
): Promise<VerbResult<'continue'>> {
  const { root } = context;
  const waiting = readWaiting(root);
  if (waiting === null) return resultOf('continue', 'nothing');
  const { pending } = waiting;
  refuseOtherState(root, waiting);
  const decisions = [...waiting.decisions, ...decideEdited(context, waiting)];
  const planning = { ...planningOf(context, pending, decisions), isTrial };
  const result =
    pending.verb === 'undo'
      ? await undo(planning)
      : await carryOut(planning, await planPending(planning, pending));
  // Data of one verb beside its name: TypeScript cannot tell that it is one of the union.
  const data = { ...result.data, verb: result.verb } as DataOf<'continue'>;
  return { ...result, verb: 'continue', data };
}

/** Makes the context for planning a waiting operation again. */
export function planningOf(
  context: EngineContext,
  pending: Pending,
  decisions: readonly Decision[],
): PlanningContext {
  const allow = [...new Set([...pending.allow, ...context.allow])];
  const skipsInstall = context.skipsInstall === true || pending.options['install'] === 'no';
  return { ...context, cwd: pending.cwd, allow, decisions, skipsInstall };
}

/** Plans a waiting operation again; not `undo`, which plans itself. */
export async function planPending(
  planning: PlanningContext,
  { verb, arguments: args, options }: Pending,
): Promise<Operation> {
  const release = options['release'] ?? null;
  const coreVersion = options['coreVersion'] ?? null;
  const update = updateOptionsOf(options);
  const request = { release, coreVersion };
  return await planVerb(planning, { verb, args, release: request, options, update });
}

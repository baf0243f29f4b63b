import { type EngineContext, resultOf, type VerbResult } from './context.ts';
import { decideEdited } from './decide.ts';
import { carryOut } from './operation.ts';
import { readWaiting, refuseOtherState } from './pending.ts';
import { planVerb } from './plan.ts';
import { undo } from './undo.ts';

/**
 * Plans the waiting operation again with what was decided, and carries it out. Conflicts that are
 * still open, or that a decision brought to light, keep it waiting; decisions made are kept.
 *
 * @throws ClawError STATE_CHANGED where it was planned on another `state.yaml`
 */
export async function continueOperation(context: EngineContext): Promise<VerbResult> {
  const { root } = context;
  const waiting = readWaiting(root);
  if (waiting === null) return resultOf('continue', 'nothing');
  const { pending } = waiting;
  refuseOtherState(root, waiting);
  const planning = {
    ...context,
    cwd: pending.cwd,
    allow: [...new Set([...pending.allow, ...context.allow])],
    decisions: [...waiting.decisions, ...decideEdited(context, waiting)],
  };
  const result =
    pending.verb === 'undo'
      ? await undo(planning)
      : await carryOut(
          planning,
          await planVerb(planning, {
            verb: pending.verb,
            args: pending.arguments,
            release: {
              release: pending.options['release'] ?? null,
              coreVersion: pending.options['coreVersion'] ?? null,
            },
          }),
        );
  return { ...result, verb: 'continue', data: { ...asObject(result.data), verb: pending.verb } };
}

function asObject(data: unknown): object {
  return typeof data === 'object' && data !== null ? data : {};
}

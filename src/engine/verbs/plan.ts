import { ClawError } from '../errors.ts';
import { planApply, requestPackages } from './apply.ts';
import type { EngineContext, VerbResult } from './context.ts';
import { planInit } from './init.ts';
import { type Operation, reportOperation } from './operation.ts';
import { planRemove } from './remove.ts';
import { planReplay } from './replay.ts';

/**
 * What a changing verb would do. Touches nothing.
 *
 * @throws ClawError USAGE for a verb that cannot be planned, and whatever that verb throws
 */
export async function plan(
  context: EngineContext,
  verb: string,
  args: readonly string[],
): Promise<VerbResult> {
  const operation = await planVerb(context, verb, args);
  const isBlocked = operation.plan.conflicts.length > 0;
  const report = reportOperation(operation, isBlocked ? 'blocked' : 'done');
  return { ...report, verb: 'plan', data: { verb, ...asObject(report.data) } };
}

async function planVerb(
  context: EngineContext,
  verb: string,
  args: readonly string[],
): Promise<Operation> {
  switch (verb) {
    case 'init':
      return await planInit(context, { release: null, coreVersion: null });
    case 'apply':
      return await planApply(context, await requestPackages(context, args));
    case 'remove':
      return await planRemove(context, args);
    case 'replay':
      return await planReplay(context);
    default:
      throw new ClawError(
        'USAGE',
        `"${verb}" cannot be planned. These can: init, apply, remove, replay.`,
      );
  }
}

function asObject(data: unknown): object {
  return typeof data === 'object' && data !== null ? data : {};
}

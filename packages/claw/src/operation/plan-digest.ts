import { type Digest, digestBytes, digestFile } from '../digest.ts';
import { ClawError } from '../errors.ts';
import type { EngineContext } from './context.ts';
import type { Operation } from './planned-operation.ts';

/**
 * Computes the identity of a plan: two plans with the same digest leave the same files, layers and core. It binds a
 * command to the plan that its owner has seen.
 */
export function planDigest({ verb, plan, files = [], core }: Operation): Digest {
  const lines = [...plan.changes, ...files].map(
    ({ path, after }) => `${path} ${after === null ? 'gone' : digestFile(after)}`,
  );
  const layers = plan.layers.map(({ manifest, digest }) => `${manifest.skill} ${digest}`);
  return digestBytes(
    JSON.stringify([verb, lines.sort(), layers, core == null ? null : core.state.digest]),
  );
}

/**
 * Refuses a plan that differs from the one that the owner accepted.
 *
 * @throws ClawError PLAN_CHANGED
 */
export function refuseOtherPlan({ expect }: EngineContext, plan: Digest): void {
  if (expect === undefined || expect === plan) return;
  throw new ClawError(
    'PLAN_CHANGED',
    'Something has changed since this was planned, so the command would now do something else. Nothing was ' +
      'changed; look at the plan again.',
  );
}

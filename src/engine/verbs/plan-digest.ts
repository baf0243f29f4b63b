import { type Digest, digestBytes, digestFile } from '../digest.ts';
import type { Operation } from './operation.ts';

/**
 * Names what a plan would do: two plans with one digest leave the same files, layers and core behind. By
 * it a command can be held to the plan that its owner has seen.
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

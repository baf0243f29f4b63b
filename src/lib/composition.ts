import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the composition in the tree: the digest of `.claw/state.yaml`, which every transaction rewrites. */
export function compositionOf(projectDir: string): string {
  try {
    const state = readFileSync(join(projectDir, '.claw/state.yaml'));
    return createHash('sha256').update(state).digest('hex');
  } catch {
    return 'core'; // No state: nothing was ever applied.
  }
}

import { checkPath } from '../checks/paths.ts';
import { checkTargets, targetsOf } from '../checks/targets.ts';
import { checkIdentity } from '../identity.ts';
import { checkDeclarations } from '../manifest/declarations.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { readManifest } from '../manifest/manifest-schema.ts';

/**
 * Reads a `manifest.yaml` and checks all that it says by itself; what needs the package's files or the
 * project around it is left to `packageFromFiles`.
 *
 * @throws ClawError with the first code of the refusal table that applies, and the place in the file
 */
export function parseManifest(source: Buffer | string): Manifest {
  const manifest = readManifest(source);
  checkIdentity(manifest);
  for (const path of [...targetsOf(manifest), ...manifest.test]) checkPath(path);
  checkTargets(manifest, []);
  checkDeclarations(manifest.structured);
  return manifest;
}

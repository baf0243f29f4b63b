import type { Installation } from './installation.ts';
import type { Operation } from './operation.ts';

/**
 * Returns the release's file as the new tree stands on it: of the release that an update brings, else the
 * installed one.
 */
export function releaseFileOf({
  core,
  installation,
}: Pick<Operation, 'core' | 'installation'>): Installation['releaseFile'] {
  return core ? (path) => core.release.files.get(path) ?? null : installation.releaseFile;
}

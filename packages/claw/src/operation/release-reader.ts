import type { Installation } from '../installed/installation.ts';
import type { Operation } from './types.ts';

/** Returns a reader for release files: the new release during `update`, otherwise the installed one. */
export function releaseReader({
  core,
  installation,
}: Pick<Operation, 'core' | 'installation'>): Installation['releaseFile'] {
  return core ? (path) => core.release.files.get(path) ?? null : installation.releaseFile;
}

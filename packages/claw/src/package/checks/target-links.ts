import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { ClawError } from '../../errors.ts';
import { lstat } from '../lstat.ts';

/**
 * Checks every folder on the way to each target in the project, so that a package can never write through a
 * link to a place outside it.
 *
 * @throws ClawError LINK_REFUSED for a symbolic link, FILE_KIND for a FIFO, socket or device; the path is the
 *   offending entry's, relative to the project
 */
export function checkTargetLinks(projectDir: string, targets: readonly string[]): void {
  const seen = new Set<string>();
  for (const target of targets) {
    const parts = target.split('/');
    for (const at of parts.keys()) {
      const path = parts.slice(0, at + 1).join('/');
      if (seen.has(path)) continue;
      seen.add(path);
      checkEntry(path, lstat(join(projectDir, path)), target);
    }
  }
}

function checkEntry(path: string, entry: Stats | null, target: string): void {
  if (entry === null || entry.isFile() || entry.isDirectory()) return;
  const isLink = entry.isSymbolicLink();
  throw new ClawError(
    isLink ? 'LINK_REFUSED' : 'FILE_KIND',
    `${path} in your project is ${isLink ? 'a symbolic link' : 'not a regular file'}, so ${target} ` +
      'is not written there. Replace it by a real file or folder.',
    { path, data: { target } },
  );
}

import { createHash } from 'node:crypto';
import type { Tree } from '@patchclaw/merge';
import type { Digest } from '../digest.ts';

/**
 * Computes one digest over every file of a package: its path, whether it is executable, and its bytes.
 *
 * Lengths come before contents, so that no two different packages feed the hash the same bytes. The order in
 * which files were found does not count.
 */
export function digestPackage(files: Tree): Digest {
  const hash = createHash('sha256');
  const paths = [...files.keys()].sort();
  hash.update(`package ${paths.length}\n`);
  for (const path of paths) {
    const file = files.get(path);
    if (file === undefined) continue;
    const mode = file.isExecutable ? 'x' : '-';
    hash.update(`${Buffer.byteLength(path)} ${path} ${mode} ${file.bytes.length} `);
    hash.update(file.bytes);
  }
  return `sha256:${hash.digest('hex')}`;
}

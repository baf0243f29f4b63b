import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSecretName } from './secret-names.ts';

const MAX_ENTRIES = 200_000;
const MAX_FOUND = 200;

export type SecretWithin = {
  /** Below the folder that was looked through. */
  readonly path: string;
  readonly isFolder: boolean;
};

/**
 * Returns the files and folders inside a folder whose names say that no agent may see them. Links are not
 * followed: inside a container they lead nowhere else.
 *
 * @throws Error in words for the owner when there is too much to look through, or to hide
 */
export async function secretsWithin(folder: string): Promise<readonly SecretWithin[]> {
  const found: SecretWithin[] = [];
  let left = MAX_ENTRIES;

  async function look(below: string): Promise<void> {
    const entries = await entriesOf(join(folder, below));
    left -= entries.length;
    if (left < 0) throw new Error(`holds more than ${MAX_ENTRIES} files; name a folder in it`);
    for (const entry of entries) {
      const path = join(below, entry.name);
      // Nothing can be put over it, and the host cannot look into it.
      if (entry.name.includes('\ufffd') && (entry.isDirectory() || isSecretName(entry.name))) {
        throw new Error(
          `holds ${path}, whose name is no UTF-8; rename it, or name a folder beside it`,
        );
      }
      if (isSecretName(entry.name)) {
        // Only files and folders can be covered; a link's target is covered at its own path.
        if (entry.isFile() || entry.isDirectory()) {
          found.push({ path, isFolder: entry.isDirectory() });
        }
      } else if (entry.isDirectory()) await look(path);
    }
    if (found.length > MAX_FOUND) {
      throw new Error(`holds more than ${MAX_FOUND} names like those of keys; name a folder in it`);
    }
  }

  await look('');
  return found;
}

/** Lists a folder; one that the host cannot read counts as empty, since no agent has more rights. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') return [];
    throw error;
  });
}

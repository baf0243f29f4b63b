import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Deletes a folder that an agent wrote to, whatever it left there: folders that are closed, and such
 * as lie deeper than a path can name. Links are deleted, never followed; nothing may write there now.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(code)) throw error;
    removeTreeAtOnce(path);
  }
}

/** The same, while everything else waits. It goes down folder by folder, not by whole paths. */
export function removeTreeAtOnce(path: string): void {
  openFolders(path);
  rmSync(path, { recursive: true, force: true });
}

function openFolders(path: string): void {
  try {
    chmodSync(path, 0o700);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      // False for a link, so that folders outside the tree stay as they are.
      if (entry.isDirectory()) openFolders(join(path, entry.name));
    }
  } catch {
    // Too deep for a path, or not ours: if that prevents the deletion, its error says so.
  }
}

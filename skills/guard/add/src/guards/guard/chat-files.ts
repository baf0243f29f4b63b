import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { LookAt } from './shell/losses.ts';

/** Folders that the owner shares with a chat; the guard does not know where they are. */
const SHARED = '/workspace/extra/';

/**
 * Creates a look at the files that a chat's agent can write, by their paths in its container. An empty file counts as
 * none, since nothing of it can be lost; whatever is below a shared folder, and any link, as a file that is there.
 */
export function filesOfChat(groupsDir: string, folder: string): LookAt {
  const roots = [
    ['/workspace/group', join(groupsDir, folder)],
    ['/workspace/global', join(groupsDir, 'global')],
  ] as const;
  return (path) => {
    if (path.startsWith(SHARED)) return 'file';
    for (const [inside, root] of roots) {
      if (path === inside) return 'folder';
      if (path.startsWith(`${inside}/`)) return kindOf(root, path.slice(inside.length + 1));
    }
    return null;
  };
}

function kindOf(root: string, path: string): ReturnType<LookAt> {
  try {
    const file = join(root, path);
    // An agent can put links: nothing outside of the chat's folder is looked at.
    const parent = realpathSync(dirname(file));
    const realRoot = realpathSync(root);
    if (parent !== realRoot && !parent.startsWith(realRoot + sep)) return 'file';
    const stats = lstatSync(join(parent, basename(file)));
    if (stats.isDirectory()) return 'folder';
    return stats.isSymbolicLink() || (stats.isFile() && stats.size > 0) ? 'file' : null;
  } catch {
    return null; // It is not there, so nothing is lost.
  }
}

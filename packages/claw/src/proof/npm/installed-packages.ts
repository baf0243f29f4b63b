import * as fs from 'node:fs';
import { join, sep } from 'node:path';
import { type Digest, digestBytes } from '../../digest.ts';

/** Folders of files that tools can make again. */
const CACHES = new Set(['.cache', '.vite', '.vite-temp', '.vitest']);

/**
 * Computes the identity of the installed packages: npm's own record of them, and the size and time of every file, so
 * that an edit by hand is noticed. It does not read the packages, which would take too long.
 *
 * @param root a link that leads out of the packages must stay in here, where other digests see its target
 * @returns null where a link leads further out, or something cannot be read
 */
export function installedDigest(root: string, nodeModules: string | null): Digest | null {
  try {
    return digestInstalled(root, nodeModules);
  } catch {
    return null; // No right to look, or another program is changing it: then nothing is known of it.
  }
}

function digestInstalled(root: string, nodeModules: string | null): Digest | null {
  if (nodeModules === null || !fs.existsSync(nodeModules)) return digestBytes('none');
  const packages = fs.realpathSync(nodeModules);
  const tree = fs.realpathSync(root);
  const isInside = (path: string) =>
    [packages, tree].some((folder) => path.startsWith(folder + sep));
  const lines: string[] = [];
  const walk = (folder: string): boolean =>
    fs.readdirSync(join(packages, folder), { withFileTypes: true }).every((entry) => {
      const path = join(folder, entry.name);
      const place = join(packages, path);
      if (entry.isDirectory()) return CACHES.has(entry.name) || walk(path);
      if (entry.isSymbolicLink()) {
        lines.push(`${path} -> ${fs.readlinkSync(place)}`);
        return !fs.existsSync(place) || isInside(fs.realpathSync(place));
      }
      const { size, mtimeMs } = fs.lstatSync(place);
      // npm rewrites its note even if the packages are unchanged.
      if (path !== NOTE) lines.push(`${path} ${size} ${mtimeMs}`);
      return true;
    });
  if (!walk('')) return null;
  const note = join(packages, NOTE);
  const noted = fs.existsSync(note) ? digestBytes(fs.readFileSync(note)) : null;
  return digestBytes(JSON.stringify([noted, lines.sort()]));
}

const NOTE = '.package-lock.json';

/** Tells whether npm has noted what it installed. */
export function isNoted(nodeModules: string): boolean {
  return fs.existsSync(join(nodeModules, NOTE));
}

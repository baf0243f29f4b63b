import * as fs from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../digest.ts';
import { engineStamp } from './engine-stamp.ts';

const FOLDER = '.claw/cache';
/** Makes the first line of a file: what follows only counts where it is the same again. */
type Seal = (root: string, name: string, content: string) => string;

/** Finds a file that was torn or damaged; for content that says by itself what it is about. */
export const CHECKSUM: Seal = (_root, _name, content) => digestBytes(content);

/**
 * Reads what an earlier command kept in `.claw/cache/`. Null where there is none, or it cannot be trusted:
 * damaged, computed by another engine, or written in another folder.
 *
 * A clone or an archive could carry a foreign cache, so a cache only counts in the very folder it was written
 * into.
 *
 * @param seal a weaker one, for content that is checked where it is used
 */
export function readCache(root: string, name: string, seal: Seal = sealOf): unknown {
  try {
    const text = fs.readFileSync(join(root, FOLDER, `${name}.json`), 'utf8');
    const end = text.indexOf('\n');
    const content = text.slice(end + 1);
    return text.slice(0, end) === seal(root, name, content) ? JSON.parse(content) : null;
  } catch {
    return null; // Absent, or no JSON: it is computed again.
  }
}

/** Keeps something for the next command. Losing it only costs time. */
export function writeCache(root: string, name: string, value: unknown, seal: Seal = sealOf): void {
  const path = join(root, FOLDER, `${name}.json`);
  const draft = `${path}.${process.pid}`;
  try {
    // Writes nothing where the engine has no folder yet: asking for a plan leaves no trace.
    if (!fs.existsSync(join(root, FOLDER))) fs.mkdirSync(join(root, FOLDER));
    const content = JSON.stringify(value);
    fs.writeFileSync(draft, `${seal(root, name, content)}\n${content}`);
    fs.renameSync(draft, path);
  } catch {
    // A cache that cannot be written (read-only, full) is simply not there next time.
  }
}

function sealOf(root: string, name: string, content: string): string {
  const { ino, birthtimeNs } = fs.lstatSync(join(root, FOLDER), { bigint: true });
  return digestBytes([name, ino, birthtimeNs, engineStamp(), content].join('\0'));
}

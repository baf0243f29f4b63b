import * as fs from 'node:fs';
import { join } from 'node:path';
import { isSealed, sealOf } from '../transaction/recover.js';
import { engineStamp } from './engine-stamp.ts';

const FOLDER = '.claw/cache';
/** Returns what a seal is about: what follows it only counts where that is the same again. */
type Subject = (root: string, name: string) => string;

/** For content that says by itself what it is about, so that another engine may use it. */
export const ANY_ENGINE: Subject = (_root, name) => `cache ${name}`;

/**
 * Reads what an earlier command kept in `.claw/cache/`. Null where there is none, or it cannot be trusted:
 * damaged, computed by another engine, or written in another folder.
 *
 * A clone or an archive could carry a foreign cache, so a cache only counts in the very folder it was written
 * into.
 *
 * @param subject another one than this folder and engine
 */
export function readCache(root: string, name: string, subject: Subject = thisEngine): unknown {
  try {
    const text = fs.readFileSync(join(root, FOLDER, `${name}.json`), 'utf8');
    const end = text.indexOf('\n');
    const content = text.slice(end + 1);
    const seal = text.slice(0, Math.max(end, 0));
    return isSealed(root, subject(root, name), content, seal) ? JSON.parse(content) : null;
  } catch {
    return null; // Absent, or no JSON: it is computed again.
  }
}

/** Keeps something for the next command. Losing it only costs time. */
export function writeCache(
  root: string,
  name: string,
  value: unknown,
  subject: Subject = thisEngine,
): void {
  const path = join(root, FOLDER, `${name}.json`);
  const draft = `${path}.${process.pid}`;
  try {
    // Writes nothing where the engine has no folder yet: asking for a plan leaves no trace.
    if (!fs.existsSync(join(root, FOLDER))) {
      fs.mkdirSync(join(root, FOLDER));
      fs.writeFileSync(join(root, FOLDER, '.gitignore'), '*\n');
    }
    const content = JSON.stringify(value);
    // Verbs that only look write caches as well, and make no secret in the owner's home.
    const seal = sealOf(root, subject(root, name), content, { makesSecret: false });
    if (seal === null) return;
    fs.rmSync(draft, { force: true });
    fs.writeFileSync(draft, `${seal}\n${content}`, { flag: 'wx' });
    fs.renameSync(draft, path);
  } catch {
    // A cache that cannot be written (read-only, full) is simply not there next time.
  }
}

function thisEngine(root: string, name: string): string {
  const { ino, birthtimeNs } = fs.lstatSync(join(root, FOLDER), { bigint: true });
  return ['cache', name, ino, birthtimeNs, engineStamp()].join(' ');
}

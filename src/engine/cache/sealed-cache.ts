import * as fs from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../digest.ts';
import { listFolder } from '../state/claw-folder.ts';

const FOLDER = '.claw/cache';
const ENGINE = join(import.meta.dirname, '..');
/** The folders of the engine that what is cached depends on. */
const PARTS = ['cache', 'compose', 'merge', 'operation', 'package', 'proof', 'state', 'structured'];
/** A process has one engine, which does not change under it. */
const STAMPS = new Map<string, string>();

/**
 * Reads what an earlier command computed and kept in `.claw/cache/`; null where there is nothing, or
 * nothing to be trusted: what is damaged, what another engine computed, and what somebody else made.
 * That last one a clone or an archive could bring along, so a cache only counts in the very folder it
 * was written into.
 */
export function readSealed(root: string, name: string): unknown {
  try {
    const text = fs.readFileSync(join(root, FOLDER, `${name}.json`), 'utf8');
    const end = text.indexOf('\n');
    const content = text.slice(end + 1);
    return text.slice(0, end) === sealOf(root, name, content) ? JSON.parse(content) : null;
  } catch {
    return null; // Absent, or no JSON: it is computed again.
  }
}

/** Keeps something for the next command. Losing it only costs time. */
export function writeSealed(root: string, name: string, value: unknown): void {
  const path = join(root, FOLDER, `${name}.json`);
  const draft = `${path}.${process.pid}`;
  try {
    // Not where the engine has no folder of its own: whoever only asks for a plan leaves no trace.
    if (!fs.existsSync(join(root, FOLDER))) fs.mkdirSync(join(root, FOLDER));
    const content = JSON.stringify(value);
    fs.writeFileSync(draft, `${sealOf(root, name, content)}\n${content}`);
    fs.renameSync(draft, path);
  } catch {
    // A cache that cannot be written (read-only, full) is simply not there next time.
  }
}

function sealOf(root: string, name: string, content: string): string {
  const { ino, birthtimeNs } = fs.lstatSync(join(root, FOLDER), { bigint: true });
  return digestBytes([name, ino, birthtimeNs, engineStamp(), content].join('\0'));
}

/** What this engine is, to the stat: another one may read and merge otherwise. */
function engineStamp(): string {
  const known = STAMPS.get(ENGINE);
  if (known !== undefined) return known;
  const files = PARTS.flatMap((part) =>
    listFolder(join(ENGINE, part)).map((path) => `${part}/${path}`),
  );
  const lines = files.map((path) => {
    const { size, mtimeMs } = fs.statSync(`${ENGINE}/${path}`);
    return `${path} ${size} ${mtimeMs}`;
  });
  const stamp = digestBytes(lines.join('\n'));
  STAMPS.set(ENGINE, stamp);
  return stamp;
}

import * as fs from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../digest.ts';

/** The folder of the packages. */
const ENGINE = join(import.meta.dirname, '../../..');
/** The folders of the engine that what is cached depends on. */
const PARTS = [
  'merge/src',
  ...['compose', 'installed', 'operation', 'package', 'proof', 'structured'].map(
    (name) => `claw/src/${name}`,
  ),
];
/** More than half of the files in them. Nothing that is cached depends on one. */
const OF_TESTS = /\.test\.ts$|^(testing|golden)$/;
/** A process has one engine, which does not change under it. */
const STAMPS = new Map<string, string>();

/**
 * Identifies this engine by the stat of its files: another one may read and merge otherwise. What is
 * built has a fixed text in this place, made of its sources.
 */
export function engineStamp(): string {
  const known = STAMPS.get(ENGINE);
  if (known !== undefined) return known;
  const stamp = digestBytes(PARTS.flatMap(statsBelow).join('\n'));
  STAMPS.set(ENGINE, stamp);
  return stamp;
}

/** Returns a line for each file below a folder of the engine; folders of test cases are not even listed. */
function statsBelow(folder: string): readonly string[] {
  return fs.readdirSync(`${ENGINE}/${folder}`, { withFileTypes: true }).flatMap((entry) => {
    if (OF_TESTS.test(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return statsBelow(path);
    const { size, mtimeMs } = fs.statSync(`${ENGINE}/${path}`);
    return [`${path} ${size} ${mtimeMs}`];
  });
}

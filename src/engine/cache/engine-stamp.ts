import * as fs from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../digest.ts';
import { listFolder } from '../state/claw-folder.ts';

const ENGINE = join(import.meta.dirname, '..');
/** The folders of the engine that what is cached depends on. */
const PARTS = ['cache', 'compose', 'merge', 'operation', 'package', 'proof', 'state', 'structured'];
/** More than half of the files in them. Nothing that is cached depends on one. */
const OF_TESTS = /\.test\.ts$|(^|\/)(testing|golden)\//;
/** A process has one engine, which does not change under it. */
const STAMPS = new Map<string, string>();

/**
 * Identifies this engine by the stat of its files: another one may read and merge otherwise. The package of
 * the engine alone has a fixed text in this place, made of its sources.
 */
export function engineStamp(): string {
  const known = STAMPS.get(ENGINE);
  if (known !== undefined) return known;
  const files = PARTS.flatMap((part) =>
    listFolder(join(ENGINE, part))
      .filter((path) => !OF_TESTS.test(path))
      .map((path) => `${part}/${path}`),
  );
  const lines = files.map((path) => {
    const { size, mtimeMs } = fs.statSync(`${ENGINE}/${path}`);
    return `${path} ${size} ${mtimeMs}`;
  });
  const stamp = digestBytes(lines.join('\n'));
  STAMPS.set(ENGINE, stamp);
  return stamp;
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isKeptSkill } from './kept-packages.ts';

/** The skills that most people want, by name: those whose packages are here. */
export type StarterSet = {
  readonly all: readonly string[];
  /** Those that are applied. */
  readonly applied: readonly string[];
};

/**
 * Reads `skills/starter-set.json`, which names the set. A file that is not there or holds something else is an
 * empty set: nothing depends on it.
 */
export function readStarterSet(projectDir: string): StarterSet {
  const all = namesIn(join(projectDir, 'skills/starter-set.json')).filter((name) =>
    existsSync(join(projectDir, 'skills', name, 'manifest.yaml')),
  );
  return {
    all,
    applied: all.filter((name) => isKeptSkill(projectDir, name)),
  };
}

function namesIn(path: string): readonly string[] {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!Array.isArray(read)) return [];
    return read.filter((name) => typeof name === 'string' && /^[a-z][a-z0-9-]*$/.test(name));
  } catch {
    return [];
  }
}

import { basename, dirname } from 'node:path';
import type { ProofFiles } from './proof-files.ts';
import { isCode, referencesOf } from './references.ts';

/**
 * Finds the tests that changed files concern, nearest first: those that changed themselves, those beside
 * a changed file, those that import one, those that import what imports one, and so on.
 *
 * @param tests the files that are tests
 */
export function relatedTests(
  changed: readonly string[],
  tests: ReadonlySet<string>,
  files: ProofFiles,
): readonly string[] {
  const importers = importersIn(files, changed);
  const near = new Set(changed);
  const subjects = new Set(changed.map(subjectOf));
  const beside = [...tests].filter((path) => subjects.has(subjectOf(path)));
  const found = new Set([...changed.filter((path) => tests.has(path)).sort(), ...beside.sort()]);
  for (let ring: readonly string[] = [...near]; ring.length > 0; ) {
    const next = ring
      .flatMap((path) => importers.get(path) ?? [])
      .filter((path) => !near.has(path));
    ring = [...new Set(next)].sort();
    for (const path of ring) near.add(path);
    for (const path of ring) if (tests.has(path)) found.add(path);
  }
  return [...found];
}

/** Which files name a file. */
function importersIn(
  files: ProofFiles,
  changed: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const gone = new Set(changed.filter((path) => !files.has(path)));
  const has = (path: string) => files.has(path) || gone.has(path);
  const importers = new Map<string, string[]>();
  for (const path of files.paths.filter(isCode)) {
    const text = files.read(path)?.toString('utf8') ?? '';
    for (const named of referencesOf(path, text, has)) {
      const known = importers.get(named);
      if (known === undefined) importers.set(named, [path]);
      else known.push(path);
    }
  }
  return importers;
}

/** What a file is about, by its place and name: `src/a.ts`, `src/a.test.ts` and `src/__tests__/a.ts` the same. */
function subjectOf(path: string): string {
  const folder = dirname(path).replace(/\/(?:__tests__|tests?)$/, '');
  const name = basename(path).replace(/\.[^.]+$/, '');
  return `${folder}/${name.replace(/^test_|[._-](?:test|tests|spec)$/, '')}`;
}

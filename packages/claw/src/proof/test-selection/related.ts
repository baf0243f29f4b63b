import { basename, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ProofFiles } from '../proof-files.ts';
import { isCode, placesOf, referencesOf } from './references.ts';

/**
 * Finds the tests that changed files concern, nearest first: changed tests, tests beside a changed file,
 * tests that import one, tests that import its importers, and so on.
 *
 * A module that reads a folder counts as one that imports the files in it, except for new and deleted ones.
 *
 * Reads the whole codebase, a few files at a time, so that it can be done while programs run.
 *
 * @param change `lone` are those of the changed files that only one of the two trees has
 * @param tests the files that are tests
 */
export async function relatedTests(
  change: { readonly changed: readonly string[]; readonly lone: ReadonlySet<string> },
  tests: ReadonlySet<string>,
  files: ProofFiles,
): Promise<readonly string[]> {
  const { changed, lone } = change;
  const importers = await importersIn(files, change);
  const subjects = new Set(changed.map(subjectOf));
  const beside = [...tests].filter((path) => subjects.has(subjectOf(path)));
  const found = new Set([...changed.filter((path) => tests.has(path)).sort(), ...beside.sort()]);
  const near = new Set(changed);
  for (let ring = changed; ring.length > 0; ) {
    const next = ring.flatMap((path) => [
      ...(importers.byName.get(path) ?? []),
      ...(lone.has(path) ? [] : (importers.byFolder.get(path) ?? [])),
    ]);
    ring = [...new Set(next.filter((path) => !near.has(path)))].sort();
    for (const path of ring) near.add(path);
    for (const path of ring) if (tests.has(path)) found.add(path);
  }
  return [...found];
}

type Importers = ReadonlyMap<string, readonly string[]>;

/** Files that are read in one go, which takes some milliseconds. */
const AT_ONCE = 32;

/** Maps each file to the files that name it, and to those that read its folder. */
async function importersIn(
  files: ProofFiles,
  { changed }: { readonly changed: readonly string[] },
): Promise<{ readonly byName: Importers; readonly byFolder: Importers }> {
  const gone = new Set(changed.filter((path) => !files.has(path)));
  const has = (path: string) => files.has(path) || gone.has(path);
  const code = [...files.paths, ...gone].filter(isCode);
  const folders = Map.groupBy(code, (path) => dirname(path));
  const byName = new Map<string, string[]>();
  const byFolder = new Map<string, string[]>();
  const add = (map: Map<string, string[]>, named: string, path: string) => {
    const known = map.get(named);
    if (known === undefined) map.set(named, [path]);
    else known.push(path);
  };
  for (const [at, path] of code.entries()) {
    if (at % AT_ONCE === 0) await setImmediate();
    const text = files.read(path)?.toString('utf8') ?? '';
    for (const named of referencesOf(path, text, has)) add(byName, named, path);
    for (const place of placesOf(path, text)) {
      if (has(place)) add(byName, place, path);
      for (const listed of folders.get(place) ?? []) add(byFolder, listed, path);
    }
  }
  return { byName, byFolder };
}

/**
 * Returns the subject of a file, by its folder and name: `src/a.ts`, `src/a.test.ts` and `src/__tests__/a.ts`
 * the same.
 */
function subjectOf(path: string): string {
  const folder = dirname(path).replace(/\/(?:__tests__|tests?)$/, '');
  const name = basename(path).replace(/\.[^.]+$/, '');
  return `${folder}/${name.replace(/^test_|[._-](?:test|tests|spec)$/, '')}`;
}

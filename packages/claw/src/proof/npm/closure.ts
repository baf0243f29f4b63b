import type { ProofFiles } from '../proof-files.ts';
import { isCode, packagesOf, referencesOf } from '../test-selection/references.ts';
import type { ReadBareName } from './bare-names.ts';

/** Everything that a test can depend on in the tree; null where that cannot be told. */
export type Closure = readonly string[] | null;

const REACHES_OUT =
  /\bimport\.meta\.(?!vitest\b)|\b(?:__dirname|__filename|createRequire|getBuiltinModule|eval|process\.(?:cwd|chdir|binding|dlopen))\b|\bnew\s+Function\b/;
const OUTER_MODULES =
  /^(?:node:)?(?:fs|fs\/promises|child_process|cluster|module|worker_threads|vm|repl|wasi|sqlite)$/;
const LOADS = /\b(?:import|require)\s*\(/g;
const LITERAL_LOADS = /\b(?:import|require)\s*\(\s*(['"])[^'"\n]*\1\s*[,)]/g;

/**
 * Lists the files that a test depends on: those that it names, and those that these name.
 *
 * Null where any of them reads files, starts programs, computes the name of a module, or imports an unknown
 * package: then it depends on more than its text tells.
 *
 * @param read what an import by a bare name leads to
 */
export function closureOf(start: string, files: ProofFiles, read: ReadBareName): Closure {
  const found = new Set([start]);
  for (const path of found) {
    if (!isCode(path)) continue;
    const text = files.read(path)?.toString('utf8');
    if (text === undefined || reachesOut(text)) return null;
    for (const name of packagesOf(text)) {
      if (OUTER_MODULES.test(name)) return null;
      if (name.startsWith('node:')) continue;
      const led = read(name);
      if (led === null) return null;
      if (led !== 'installed') for (const file of led) found.add(file);
    }
    for (const reference of referencesOf(path, text, files.has)) found.add(reference);
  }
  return isCode(start) ? [...found].sort() : null;
}

/** Tells whether a module reads its place or the machine, or computes the name of what it loads. */
function reachesOut(text: string): boolean {
  const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
  return REACHES_OUT.test(text) || count(LOADS) !== count(LITERAL_LOADS);
}

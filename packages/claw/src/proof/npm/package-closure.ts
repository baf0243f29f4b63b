import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { ProofFiles } from '../proof-files.ts';
import { isCode, packagesOf, referencesOf } from '../test-selection/references.ts';

/**
 * The target of an import by a bare name: `installed` for an installed package, which is not part of the tree; files
 * of the tree, for a linked package such as a workspace; null if unknown.
 */
export type BareName = 'installed' | readonly string[] | null;

/** Returns the target of a bare name such as `@scope/name/part`. */
export type ReadBareName = (specifier: string) => BareName;

const Manifest = z.object({
  main: z.string().default('index.js'),
  exports: z.unknown().optional(),
});

/**
 * Creates a reader of bare names.
 *
 * @param nodeModules absolute; null where no packages are installed. Links lead from there into the tree beside it
 */
export function bareNameReader(nodeModules: string | null, files: ProofFiles): ReadBareName {
  const known = new Map<string, BareName>();
  const real = nodeModules === null || !existsSync(nodeModules) ? null : realpathSync(nodeModules);
  const look = (specifier: string): BareName => {
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
    if (real === null || !existsSync(join(real, name))) return null;
    if (!lstatSync(join(real, name)).isSymbolicLink()) return 'installed';
    const folder = linkedFolder(real, name);
    return folder === null ? null : filesOf(folder, `.${specifier.slice(name.length)}`, files);
  };
  return (specifier) => {
    const before = known.get(specifier);
    if (before !== undefined) return before;
    const found = look(specifier);
    known.set(specifier, found);
    return found;
  };
}

/** Returns the folder of a linked package, relative to the tree; null where it lies outside. */
function linkedFolder(nodeModules: string, name: string): string | null {
  const target = resolve(dirname(join(nodeModules, name)), readlinkSync(join(nodeModules, name)));
  const folder = relative(dirname(nodeModules), target);
  return /^(\.\.|node_modules)(\/|$)/.test(folder) || folder === '' ? null : folder;
}

/** Returns every file that a package may give for a part of it, whoever asks; null where it says none that is there. */
function filesOf(folder: string, part: string, files: ProofFiles): readonly string[] | null {
  const path = `${folder}/package.json`;
  try {
    const { main, exports } = Manifest.parse(JSON.parse(files.read(path)?.toString('utf8') ?? ''));
    const given = exports === undefined ? (part === '.' ? main : part) : targetOf(exports, part);
    const all = textsIn(given).map((text) => posix.join(folder, text));
    // What is built is not a file of the tree; the sources that it is made of are among them.
    const found = all.filter(files.has);
    return found.length === 0 ? null : found;
  } catch {
    return null; // No manifest, or one that nothing can be told from.
  }
}

/** A pattern such as `./*` is unknown. */
function targetOf(exports: unknown, part: string): unknown {
  const isByPart =
    typeof exports === 'object' && exports !== null && Object.keys(exports)[0]?.startsWith('.');
  if (!isByPart) return part === '.' ? exports : null;
  return (exports as Readonly<Record<string, unknown>>)[part] ?? null;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Everything that a test can depend on in the tree; null where that cannot be told. */
type Closure = readonly string[] | null;

const REACHES_OUT =
  /\bimport\.meta\.(?!vitest\b)|\b(?:__dirname|__filename|createRequire|getBuiltinModule|eval|process\.(?:cwd|chdir|binding|dlopen))\b|\bnew\s+Function\b/;
const OUTER_MODULES =
  /^(?:node:)?(?:fs|fs\/promises|child_process|cluster|module|worker_threads|vm|repl|wasi|sqlite)$/;
const LOADS = /\b(?:import|require)\s*\(/g;
const LITERAL_LOADS = /\b(?:import|require)\s*\(\s*(['"])[^'"\n]*\1\s*[,)]/g;

/**
 * Lists the files that a test depends on: those that it names, and those that these name.
 *
 * Null if one of them reads files, starts programs, computes the name of a module, or imports an unknown package:
 * then it depends on more than its text shows.
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

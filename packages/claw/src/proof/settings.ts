import { posix } from 'node:path';
import { z } from 'zod';
import type { ReadBareName } from './npm/bare-names.ts';
import { closureOf } from './npm/closure.ts';
import type { ProofFiles } from './proof-files.ts';
import { candidatesOf } from './test-selection/references.ts';

const MODULE = /\.[cm]?[jt]sx?$/;
/** Settings in the top folder by which a runner loads files of the tree before any test. */
const LOADING =
  /^\.?(?:mocha|jest|vite|vitest|ava|tap|nyc|c8|babel|swc|jasmine|karma|node\.config|npmrc)|^[^/]*(?:config|workspace|rc)\.[cm]?[jt]sx?$/;
/** Keys of package.json that name what users of the package load, or files that are only packed. */
const NOT_LOADING = new Set(['main', 'module', 'browser', 'bin', 'exports', 'types', 'files']);
const WORD = /[^\s=,;'"`()&|<>:{}]+/g;

/** Tells whether a file can only matter to who loads it by name; any other can be read as data. */
export function isModule(path: string): boolean {
  return MODULE.test(path);
}

/**
 * Lists the modules that may run beside any test: those in the top folder, those that the command or a script
 * of package.json names, those that settings name, and all that these reach. Null where their reach is
 * unknown.
 *
 * @param read what an import by a bare name leads to
 */
export function settingsOf(
  command: string,
  files: ProofFiles,
  read: ReadBareName,
): readonly string[] | null {
  const line = withScripts(command, files);
  const top = files.paths.filter((path) => !path.includes('/'));
  const loaded = new Set([...top, ...namedIn(line, files)].filter(isModule));
  const texts = [...top, ...loaded].filter((path) => LOADING.test(path) || !top.includes(path));
  for (const text of [ownSettings(files), ...texts.map((path) => textOf(path, files))]) {
    for (const path of namedIn(text, files)) if (isModule(path)) loaded.add(path);
  }
  const found = new Set(belowWords(line, files));
  for (const path of loaded) {
    const reached = closureOf(path, files, read);
    if (reached === null) return null;
    for (const one of reached) found.add(one);
  }
  return [...found];
}

/** Returns the files that a text names by a path from the top folder, its extension left out or not. */
function namedIn(text: string, files: ProofFiles): readonly string[] {
  const words = (text.match(WORD) ?? []).filter((word) => word.includes('/'));
  const meant = words.flatMap((word) => candidatesOf(posix.normalize(word))).filter(files.has);
  return [...files.paths.filter((path) => text.includes(path)), ...meant];
}

/** Returns the files in folders that a command names: it may load any of them. */
function belowWords(line: string, files: ProofFiles): readonly string[] {
  const words = (line.match(WORD) ?? []).map((word) => posix.normalize(`${word}/`));
  const isBelow = (path: string) => words.some((word) => word === './' || path.startsWith(word));
  return files.paths.filter((path) => !path.startsWith('skills/') && isBelow(path));
}

const PackageJson = z.record(z.string(), z.unknown());

function packageJson(files: ProofFiles): Readonly<Record<string, unknown>> {
  try {
    return PackageJson.parse(JSON.parse(textOf('package.json', files)));
  } catch {
    return {}; // Absent, or npm will say what is wrong with it.
  }
}

/** Returns a command with the scripts that it may run: those whose names are among its words. */
function withScripts(command: string, files: ProofFiles): string {
  const scripts = PackageJson.safeParse(packageJson(files)['scripts']).data ?? {};
  const lines = new Set([command]);
  for (const line of lines) {
    for (const word of line.match(/[^\s'"&|;]+/g) ?? []) {
      for (const name of [`pre${word}`, word, `post${word}`]) {
        if (Object.hasOwn(scripts, name)) lines.add(String(scripts[name]));
      }
    }
  }
  return [...lines].join('\n');
}

/** Returns the settings of tools in package.json. */
function ownSettings(files: ProofFiles): string {
  const all = Object.entries(packageJson(files));
  const kept = all.filter(([key]) => key !== 'scripts' && !NOT_LOADING.has(key));
  return JSON.stringify(Object.fromEntries(kept));
}

function textOf(path: string, files: ProofFiles): string {
  return files.read(path)?.toString('utf8') ?? '';
}

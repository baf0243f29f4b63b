import { existsSync } from 'node:fs';
import { basename, posix } from 'node:path';
import { z } from 'zod';
import { type Digest, digestBytes } from '../../digest.ts';
import { findBubblewrap } from '../bubblewrap.ts';
import { installedDigest, isNoted } from '../npm/installed-packages.ts';
import { bareNameReader, closureOf, type ReadBareName } from '../npm/package-closure.ts';
import type { ProofFiles } from '../proof-files.ts';
import type { Environment } from '../sandboxed.ts';
import type { Trial } from '../trial.ts';
import { candidatesOf } from './references.ts';

/** The key under which a pass of a test file is remembered; null for one that always runs. */
export type TestKeys = (path: string, beside?: readonly string[]) => Digest | null;

/**
 * Creates keys from everything that the outcome of a test file depends on. That is the modules that it
 * reaches, those that run beside any test, the test command, the installed packages and Node. Every file that
 * is not a module counts too: a package may read it, and Node reads each package.json.
 *
 * Only modules that no other file names are left out. A test whose reach is not in its text has no key.
 */
export async function openTestKeys(
  { environment, root }: { readonly environment: Environment; readonly root: string },
  trial: Trial,
  { files, command }: { readonly files: ProofFiles; readonly command: string },
): Promise<TestKeys> {
  const nodeModules = trial.nodeModules();
  const read = bareNameReader(nodeModules, files);
  const settings = settingsOf(command, files, read);
  // Looking at every installed file takes longer than all the rest.
  const packages = settings === null ? null : packagesDigest(root, nodeModules);
  if (settings === null || packages === null) return () => null;
  const isFenced = (await findBubblewrap(environment['PATH'] ?? '')) !== null;
  const { version, platform, arch } = process;
  const machine = [command, packages, isFenced, environment['LANG'], version, platform, arch];
  const contentsOf = (paths: readonly string[]) => paths.map((one) => [one, files.digest(one)]);
  // In skills/ a view has the tests of the layers and what these have beside them.
  const data = files.paths.filter((path) => !isModule(path) && !path.startsWith('skills/'));
  const common = digestBytes(JSON.stringify([contentsOf(data), machine]));
  return (path, beside = []) => {
    const reached = closureOf(path, files, read);
    if (reached === null) return null;
    const own = files.paths.filter((one) => basename(one).startsWith(basename(path)));
    const all = [...new Set([...reached, ...settings, ...own, ...beside])].sort();
    return digestBytes(JSON.stringify([path, contentsOf(all), common]));
  };
}

/** Computes the digest of the installed packages; null where it cannot be known. */
function packagesDigest(root: string, nodeModules: string | null): Digest | null {
  const isTold = nodeModules === null || !existsSync(nodeModules) || isNoted(nodeModules);
  return isTold ? installedDigest(root, nodeModules) : null;
}

const MODULE = /\.[cm]?[jt]sx?$/;
/** Settings in the top folder by which a runner loads files of the tree before any test. */
const LOADING =
  /^\.?(?:mocha|jest|vite|vitest|ava|tap|nyc|c8|babel|swc|jasmine|karma|node\.config|npmrc)|^[^/]*(?:config|workspace|rc)\.[cm]?[jt]sx?$/;
/** Keys of package.json that name what users of the package load, or files that are only packed. */
const NOT_LOADING = new Set(['main', 'module', 'browser', 'bin', 'exports', 'types', 'files']);
const WORD = /[^\s=,;'"`()&|<>:{}]+/g;

/** Tells whether a file can only matter to who loads it by name; any other can be read as data. */
function isModule(path: string): boolean {
  return MODULE.test(path);
}

/**
 * Lists the modules that may run beside any test: those in the top folder, those that the command or a script
 * of package.json names, those that settings name, and all that these reach. Null where their reach is
 * unknown.
 *
 * @param read what an import by a bare name leads to
 */
function settingsOf(
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

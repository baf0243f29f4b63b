import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, digestBytes } from '../digest.ts';
import { findBubblewrap } from './bubblewrap.ts';
import { closureOf } from './closure.ts';
import type { ProofFiles } from './proof-files.ts';
import type { Environment } from './sandboxed.ts';
import type { Trial } from './trial.ts';

/** The key under which a pass of a test file is remembered; null for one that always runs. */
export type TestKeys = (path: string, beside?: readonly string[]) => Digest | null;

/**
 * Names all that the outcome of a test file depends on: the files that it reaches, all files in the
 * tree's top folder and what they name (settings of tools are there), the test command, the installed
 * packages and Node. A test whose reach is not in its text has no key.
 */
export async function openTestKeys(
  { environment }: { readonly environment: Environment },
  trial: Trial,
  { files, command }: { readonly files: ProofFiles; readonly command: string },
): Promise<TestKeys> {
  const nodeModules = trial.nodeModules();
  const packages = packagesDigest(nodeModules);
  const isPackage = createPackageTest(nodeModules);
  const settings = packages === null ? null : settingsOf(files, isPackage);
  const isFenced = (await findBubblewrap(environment['PATH'] ?? '')) !== null;
  const { version, platform, arch } = process;
  const machine = [command, packages, isFenced, environment['LANG'], version, platform, arch];
  return (path, beside = []) => {
    const reached = settings === null ? null : closureOf(path, files, isPackage);
    if (reached === null || settings === null) return null;
    const all = [...new Set([...reached, ...settings, ...beside])].sort();
    const contents = all.map((one) => [one, files.digest(one)]);
    return digestBytes(JSON.stringify([path, contents, machine]));
  };
}

/** The files in the top folder, and those that code among them names. Null where that reaches out. */
function settingsOf(
  files: ProofFiles,
  isPackage: (name: string) => boolean,
): readonly string[] | null {
  const found = new Set<string>();
  for (const path of files.paths.filter((one) => !one.includes('/'))) {
    found.add(path);
    if (!/\.[cm]?[jt]sx?$/.test(path)) continue;
    const reached = closureOf(path, files, isPackage);
    if (reached === null) return null;
    for (const one of reached) found.add(one);
  }
  return [...found];
}

/** Which versions are installed, by npm's own note of it; null where nothing tells. */
function packagesDigest(nodeModules: string | null): string | null {
  if (nodeModules === null || !existsSync(nodeModules)) return 'none';
  const note = join(nodeModules, '.package-lock.json');
  return existsSync(note) ? digestBytes(readFileSync(note)) : null;
}

/** A linked package is a folder of somebody's project, which nothing here has a digest of. */
function createPackageTest(nodeModules: string | null): (name: string) => boolean {
  const known = new Map<string, boolean>();
  const look = (name: string): boolean => {
    if (nodeModules === null) return false;
    const place = join(realpathSync(nodeModules), name);
    return existsSync(place) && !lstatSync(place).isSymbolicLink();
  };
  return (specifier) => {
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
    const isKnown = known.get(name) ?? look(name);
    known.set(name, isKnown);
    return isKnown;
  };
}

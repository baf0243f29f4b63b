import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { type Digest, digestBytes } from '../../digest.ts';
import { findBubblewrap } from '../bubblewrap.ts';
import { bareNameReader } from '../npm/bare-names.ts';
import { closureOf } from '../npm/closure.ts';
import { installedDigest, isNoted } from '../npm/installed.ts';
import type { ProofFiles } from '../proof-files.ts';
import type { Environment } from '../sandboxed.ts';
import { isModule, settingsOf } from '../settings.ts';
import type { Trial } from '../trial.ts';

/** The key under which a pass of a test file is remembered; null for one that always runs. */
export type TestKeys = (path: string, beside?: readonly string[]) => Digest | null;

/**
 * Creates keys from everything that the outcome of a test file depends on. That is the modules that it
 * reaches, those that run beside any test, the test command, the installed packages and Node. Every file that
 * is no module counts too: a package may read it, and Node reads each package.json.
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

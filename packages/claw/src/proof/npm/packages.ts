import * as fs from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { satisfies } from 'semver';
import { z } from 'zod';
import { ClawError } from '../../errors.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { Environment } from '../sandboxed.ts';
import { newPackages, type ScriptedPackage, scriptApprovals } from './install-scripts.ts';
import { FIXED_SETTINGS } from './project-settings.ts';

const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--package-lock'];
const NPM_CONFIG =
  /^npm_config_(cache|(.*:)?registry|(user|global)config|(prefer_)?offline|(https_)?proxy|noproxy|ca|cafile|strict_ssl)$/i;
const NEEDED_BY_NPM =
  /^(HOME|LANG|TMPDIR|(https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/**
 * npm's lock, and the absolute path of the packages' folder, `<view>/node_modules`; null if the project's own
 * packages are the right ones.
 */
export type InstalledPackages = {
  readonly lock: Buffer;
  readonly nodeModules: string | null;
  /** New packages whose install scripts did not run, although nobody has refused them by name. */
  readonly unapproved: readonly ScriptedPackage[];
};

/**
 * Lets npm make `node_modules` and the lock file for the `package.json` of a view. Starts from a real copy of
 * the project's packages: a hard link would let npm write into the owner's.
 *
 * Install scripts run only for packages that the owner approves, and only where they are new or another version.
 * `allowScripts` of that `package.json` is the word of whoever wrote the project. It counts as the owner's where
 * the project's code runs with the owner's rights anyway.
 *
 * @param input `lock` is npm's starting point, which it reproduces where it fits; null for none.
 *   `allowScripts` are names that the owner gave with the command; with `isTrusted` those of `package.json` count too
 * @throws ClawError NPM_FAILED with npm's last lines in `data.output`; INTERRUPTED
 */
export async function installPackages(input: {
  readonly root: string;
  readonly view: string;
  readonly lock: Buffer | null;
  readonly allowScripts?: readonly string[];
  readonly isTrusted?: boolean;
  readonly environment: Environment;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (line: string) => void;
}): Promise<InstalledPackages> {
  const {
    root,
    view,
    lock,
    allowScripts = [],
    isTrusted = false,
    signal,
    onProgress = () => {},
  } = input;
  const lockPath = join(view, 'package-lock.json');
  const nodeModules = join(view, 'node_modules');
  if (lock === null) fs.rmSync(lockPath, { force: true });
  else fs.writeFileSync(lockPath, lock);
  const served = lock === null ? null : await resolveServed(input, lock);
  if (served !== null) return { lock: served, nodeModules: null, unapproved: [] };

  onProgress('copying node_modules');
  await copyFolder(join(root, 'node_modules'), nodeModules, signal);
  const before = hiddenLock(nodeModules);
  onProgress('npm install');
  await npm(INSTALL, input);
  fs.mkdirSync(nodeModules, { recursive: true });

  const after = hiddenLock(nodeModules);
  const changed = after === null ? [] : newPackages(after, before);
  const approvals = scriptApprovals(fs.readFileSync(join(view, 'package.json')));
  const isApproved = (name: string) =>
    allowScripts.includes(name) || (isTrusted && approvals.get(name) === true);
  const rebuilt = new Set(changed.map(({ name }) => name).filter(isApproved));
  if (rebuilt.size > 0) {
    onProgress(`npm rebuild ${[...rebuilt].join(' ')}`);
    await npm(['rebuild', '--ignore-scripts=false', ...rebuilt], input);
  }
  const unapproved = changed.filter(
    ({ name, hasScript }) => hasScript && !rebuilt.has(name) && approvals.get(name) !== false,
  );
  return { lock: fs.readFileSync(lockPath), nodeModules, unapproved };
}

/**
 * Asks npm for the lock alone where the old one has everything. Copying and installing take long, and
 * are for nothing where the packages stay what they are.
 *
 * @returns null where packages change
 */
async function resolveServed(
  place: Place & { root: string },
  lock: Buffer,
): Promise<Buffer | null> {
  const { root, view } = place;
  const installed = hiddenLock(join(root, 'node_modules'));
  const packageJson = fs.readFileSync(join(view, 'package.json'));
  if (installed === null || !seemsServed(packageJson, lock)) return null;
  try {
    const resolved = await resolvePackages(place);
    const isThere = (place: string) => fs.existsSync(join(root, place));
    if (isInstalled(resolved, { installed, former: lock, isThere })) return resolved;
  } catch (error) {
    // A full install may succeed where the lock alone failed, or gives the reason.
    if (!(error instanceof ClawError && error.code === 'NPM_FAILED')) throw error;
  }
  fs.writeFileSync(join(view, 'package-lock.json'), lock);
  return null;
}

/**
 * Lets npm resolve the `package.json` of a folder into a lock. Installs and runs nothing.
 *
 * @throws ClawError NPM_FAILED, INTERRUPTED
 */
export async function resolvePackages(place: {
  readonly view: string;
  readonly environment: Environment;
  readonly signal?: AbortSignal | undefined;
}): Promise<Buffer> {
  // A plan does not wait for a registry that cannot be reached.
  const impatient = ['--fetch-retries=0', '--fetch-timeout=5000', '--prefer-offline'];
  await npm([...INSTALL, '--package-lock-only', ...impatient], place);
  return fs.readFileSync(join(place.view, 'package-lock.json'));
}

const Entry = z.looseObject({
  version: z.string().optional(),
  resolved: z.union([z.string(), z.boolean()]).optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  optional: z.boolean().optional(),
});
type Entry = z.output<typeof Entry>;
const PackageLock = z.object({ packages: z.record(z.string(), Entry) });
const Ranges = z.record(z.string(), z.string()).default({});
const Manifest = z.object({
  dependencies: Ranges,
  devDependencies: Ranges,
  optionalDependencies: Ranges,
  peerDependencies: Ranges,
});

/**
 * Tells whether a lock seems to have all packages that a `package.json` wants, and no others: then it is
 * worth asking npm for the lock alone.
 */
function seemsServed(packageJson: Buffer, lock: Buffer): boolean {
  const wanted = read(Manifest, packageJson);
  const locked = read(PackageLock, lock)?.packages;
  const former = Manifest.safeParse(locked?.['']).data;
  if (wanted === null || locked === undefined || former === undefined) return false;
  const ranges = rangesOf(wanted);
  const before = rangesOf(former);
  return (
    [...before.keys()].every((name) => ranges.has(name)) &&
    [...ranges].every(([name, range]) => {
      const version = locked[`node_modules/${name}`]?.version;
      return before.get(name) === range || (version !== undefined && satisfies(version, range));
    })
  );
}

/**
 * Tells whether what is installed is what a lock says, package for package.
 *
 * @param known `installed` is npm's own note, `node_modules/.package-lock.json`; `former` is the lock
 *   that it was installed by: what it left out as optional, for another system, may stay out
 */
function isInstalled(
  lock: Buffer,
  known: {
    readonly installed: Buffer;
    readonly former: Buffer;
    readonly isThere: (place: string) => boolean;
  },
): boolean {
  const [wanted, there, before] = [lock, known.installed, known.former].map(
    (one) => read(PackageLock, one)?.packages,
  );
  if (wanted === undefined || there === undefined || before === undefined) return false;
  const isWanted = Object.keys(there).every((place) => place === '' || wanted[place] !== undefined);
  return (
    isWanted &&
    Object.entries(wanted).every(([place, entry]) => {
      if (place === '') return true;
      const own = there[place];
      if (own !== undefined) return isSamePackage(own, entry) && known.isThere(place);
      const out = before[place];
      return out?.optional === true && entry.optional === true && isSamePackage(out, entry);
    })
  );
}

/** Tells whether they are the same bytes. A linked package is a folder, which may have changed. */
function isSamePackage(one: Entry, other: Entry): boolean {
  const isLinked = one.link === true || other.link === true;
  return (
    !isLinked &&
    one.version === other.version &&
    one.resolved === other.resolved &&
    one.integrity === other.integrity
  );
}

function rangesOf(manifest: z.output<typeof Manifest>): ReadonlyMap<string, string> {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
  const all = { ...peerDependencies, ...devDependencies, ...optionalDependencies, ...dependencies };
  return new Map(Object.entries(all));
}

function read<T>(schema: z.ZodType<T>, bytes: Buffer): T | null {
  try {
    return schema.safeParse(JSON.parse(bytes.toString('utf8'))).data ?? null;
  } catch {
    return null; // No JSON: npm has the better message.
  }
}

/** Makes a true copy, sharing blocks where the file system can; the fallback is Node's own. */
async function copyFolder(
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!fs.existsSync(from)) return;
  fs.mkdirSync(to, { recursive: true });
  const flags = process.platform === 'darwin' ? ['-acR'] : ['-a', '--reflink=auto'];
  // Tools can make the files in `.cache` again, and may change them during the copy.
  const entries = fs.readdirSync(from).filter((name) => name !== '.cache');
  if (entries.length === 0) return;
  const sources = entries.map((name) => join(from, name));
  const copied = await execa('cp', [...flags, ...sources, to], {
    reject: false,
    stdio: 'ignore',
    ...cancelledBy(signal),
  });
  throwIfInterrupted(signal);
  if (copied.exitCode === 0) return;
  fs.rmSync(to, { recursive: true, force: true });
  const filter = (path: string) => path !== join(from, '.cache');
  await fs.promises.cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    dereference: false,
    filter,
  });
}

type Place = {
  readonly view: string;
  readonly environment: Environment;
  readonly signal?: AbortSignal | undefined;
};

async function npm(args: readonly string[], place: Place): Promise<void> {
  const { view, environment, signal } = place;
  const path = [dirname(process.execPath), environment['PATH'] ?? ''].join(delimiter);
  const kept = Object.entries(environment).filter(
    ([name]) => NPM_CONFIG.test(name) || NEEDED_BY_NPM.test(name),
  );
  const run = await execa('npm', ['--prefix', view, ...args], {
    cwd: view,
    env: { ...Object.fromEntries(kept), ...FIXED_SETTINGS, PATH: path },
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    reject: false,
    ...cancelledBy(signal),
  });
  throwIfInterrupted(signal);
  if (run.exitCode === 0) return;
  const output = (run.all || run.shortMessage || '').split('\n').slice(-30).join('\n');
  throw new ClawError('NPM_FAILED', `npm ${args[0]} failed:\n${output}`, { data: { output } });
}

function cancelledBy(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { cancelSignal: signal };
}

/** Returns the installed packages as a lock that npm can start from; null if npm left no record. */
export function installedLock(root: string): Buffer | null {
  const hidden = hiddenLock(join(root, 'node_modules'));
  if (hidden === null) return null;
  try {
    const { packages, ...rest } = JSON.parse(hidden.toString('utf8'));
    return Buffer.from(JSON.stringify({ ...rest, packages: { '': {}, ...packages } }));
  } catch {
    return null; // Damaged: npm looks at the folders themselves.
  }
}

/** Reads npm's note of the installed packages; null if there is none. */
function hiddenLock(nodeModules: string): Buffer | null {
  const path = join(nodeModules, '.package-lock.json');
  return fs.existsSync(path) ? fs.readFileSync(path) : null;
}

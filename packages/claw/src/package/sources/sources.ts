import { existsSync, readdirSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Tree } from '@patchclaw/merge';
import { ClawError } from '../../errors.ts';
import { nearestNames } from '../nearest-names.ts';
import type { IrregularEntry } from '../package-from-files.ts';
import { type GitAddress, parseGitAddress } from './git-address.ts';

/** The source of a package, and its name in `state.yaml`: never an absolute path, no secret. */
export type PackageSource = { readonly source: string } & (
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'tarball'; readonly file: string }
  | { readonly kind: 'git'; readonly address: GitAddress }
);

/** Returns the names of the packages that the project itself carries, sorted. */
export function bundledSkills(root: string): readonly string[] {
  const folder = join(root, 'skills');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'manifest.yaml')))
    .sort();
}

/** Tells the same of one name; spelled as on disk, also where the disk does not care. */
function isBundled(root: string, name: string): boolean {
  const folder = join(root, 'skills');
  if (!existsSync(join(folder, name, 'manifest.yaml'))) return false;
  // A disk that does not care has it in capitals as well; one that cares need not list all skills for each.
  const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
  const isExact = /^[\w-]+$/.test(name) && (other === name || !existsSync(join(folder, other)));
  return isExact || readdirSync(folder).includes(name);
}

/**
 * Finds out what is meant: a name under `skills/`, a folder, a tarball, or a folder of a git
 * repository (`<url>#<folder>`, `<url>#<ref>:<folder>`). Fetches nothing.
 *
 * @param cwd what a relative path is relative to
 * @throws ClawError SKILL_NOT_FOUND with the three nearest names in `data.nearest`; FILE_MISSING for a
 * folder that holds no package; USAGE, PATH_UNSAFE for an address that git is not given
 */
export function findPackage(root: string, cwd: string, wanted: string): PackageSource {
  if (isBundled(root, wanted)) {
    return { kind: 'folder', folder: join(root, 'skills', wanted), source: wanted };
  }
  const path = resolve(cwd, wanted);
  if (existsSync(join(path, 'manifest.yaml'))) {
    return { kind: 'folder', folder: path, source: nameOf(root, path) };
  }
  const address = parseGitAddress(wanted, cwd);
  if (address !== null) return { kind: 'git', address, source: sourceOf(root, address) };
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() && /\.(tgz|tar\.gz|tar)$/i.test(path)) {
    return { kind: 'tarball', file: path, source: nameOf(root, path) };
  }
  if (stats?.isDirectory() && /[/\\]/.test(wanted)) {
    const message = `${wanted} has no manifest.yaml, so it is not a skill package.`;
    throw new ClawError('FILE_MISSING', message, { path: 'manifest.yaml' });
  }
  const bundled = bundledSkills(root);
  const nearest = nearestNames(wanted, bundled, 3);
  const message = /[/\\]/.test(wanted)
    ? `There is no skill folder or tarball at ${wanted}.`
    : `There is no skill "${wanted}". ${hintOf(nearest, bundled)}`;
  throw new ClawError('SKILL_NOT_FOUND', message, {
    data: { nearest },
  });
}

function hintOf(nearest: readonly string[], bundled: readonly string[]): string {
  if (bundled.length === 0) return 'skills/ holds none.';
  if (nearest.length === 0) return '`claw list --available` shows those that skills/ holds.';
  return `The nearest: ${nearest.join(', ')}.`;
}

function sourceOf(root: string, { repository, fragment }: GitAddress): string {
  return repository.kind === 'local'
    ? `file:${nameOf(root, repository.path)}${fragment}`
    : `${repository.shown}${fragment}`;
}

// state.yaml is read on other machines, so it never holds an absolute path.
function nameOf(root: string, path: string): string {
  const below = relative(root, path).split(sep).join('/');
  return isAbsolute(below)
    ? `./${path.split(sep).at(-1)}`
    : `./${below}`.replace(/^\.\/\.\./, '..');
}

/** The content of a source before it is checked: nothing of it has touched the project. */
export type FetchedPackage = {
  readonly files: Tree;
  readonly irregular: readonly IrregularEntry[];
  /** The commit of a git repository; null for other sources. */
  readonly commit: string | null;
};

/** The edges of fetching: the environment it may use, and its receiver of progress. */
export type FetchEdges = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (event: {
    readonly kind: 'step' | 'done' | 'note';
    readonly text: string;
  }) => void;
};

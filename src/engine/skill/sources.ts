import { existsSync, readdirSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ClawError } from '../errors.ts';
import { nearestNames } from './nearest.ts';

/** A package's folder, and how `state.yaml` names where it came from. */
export type PackageSource = { readonly folder: string; readonly source: string };

/** The names of the packages that the project itself carries, sorted. */
export function bundledSkills(root: string): readonly string[] {
  const folder = join(root, 'skills');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'manifest.yaml')))
    .sort();
}

/**
 * Finds a package by its name under `skills/`, or by folder.
 *
 * @param cwd what a relative folder is relative to
 * @throws ClawError SKILL_NOT_FOUND with the three nearest names in `data.nearest`
 */
export function findPackage(root: string, cwd: string, wanted: string): PackageSource {
  const bundled = bundledSkills(root);
  if (bundled.includes(wanted)) return { folder: join(root, 'skills', wanted), source: wanted };
  const folder = resolve(cwd, wanted);
  if (existsSync(join(folder, 'manifest.yaml'))) return { folder, source: nameOf(root, folder) };
  if (existsSync(folder) && /[/\\]/.test(wanted)) {
    throw new ClawError(
      'FILE_MISSING',
      `${wanted} has no manifest.yaml, so it is no skill package.`,
      {
        path: 'manifest.yaml',
      },
    );
  }
  const nearest = nearestNames(wanted, bundled, 3);
  const hint = nearest.length > 0 ? ` The nearest: ${nearest.join(', ')}.` : ' skills/ holds none.';
  throw new ClawError('SKILL_NOT_FOUND', `There is no skill "${wanted}".${hint}`, {
    data: { nearest },
  });
}

// state.yaml is read on other machines, so it never holds an absolute path.
function nameOf(root: string, folder: string): string {
  const below = relative(root, folder).split(sep).join('/');
  return isAbsolute(below)
    ? `./${folder.split(sep).at(-1)}`
    : `./${below}`.replace(/^\.\/\.\./, '..');
}

import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ClawError } from '../../errors.ts';
import { type Installation, readInstalledPackages } from '../../installed/installation.ts';
import { isProjectPath } from '../../installed/project-files.ts';
import type { EngineContext } from '../../operation/context.ts';
import { isSkillName } from '../../package/identity.ts';
import type { SkillPackage } from '../../package/package.ts';
import { lstat } from '../../package/regular-file.ts';

/** Arguments of `claw pack` as the author gave them. */
export type PackArguments = {
  readonly name: string;
  /** Files or folders, relative to where the author is. */
  readonly named: readonly string[];
  /** Options to be said again in a command that the author should give instead. */
  readonly flags?: readonly string[];
};

/** Returns a `claw pack` command for the author to run. */
export function packCommand({ name, named, flags = [] }: PackArguments): string {
  return ['claw pack', name, ...named, ...flags].join(' ');
}

/** Tells whether one of the edits is a path, or below it. */
function isEdited(path: string, edited: readonly string[]): boolean {
  return edited.some((one) => isAtOrBelow(one, path));
}

/** Tells whether a path is the other path, or inside that folder. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/**
 * Refuses a path where the name of the skill should be.
 *
 * @throws ClawError USAGE with the right order
 */
export function refusePathAsName(
  context: EngineContext,
  { name, named, flags }: PackArguments,
  edited: readonly string[],
): void {
  const hasEdit = (given: string) => isEdited(placeOf(context, given), edited);
  const others = named.filter((given) => !hasEdit(given));
  const isMisplaced = !isSkillName(name) || others.some(isSkillName);
  if (!isMisplaced || !hasEdit(name)) return;
  const right = others.find(isSkillName) ?? '<name>';
  const paths = [name, ...named.filter((given) => given !== right)];
  const command = packCommand({ name: right, named: paths, ...(flags ? { flags } : {}) });
  throw new ClawError('USAGE', `The name of the skill comes first: ${command}.`, { path: name });
}

/**
 * Returns named edits as the project knows their paths.
 *
 * @param range the commits that they were looked for in; null for edits of the tree
 *
 * @throws ClawError USAGE for a path without an edit, with the reason
 */
export function findNamedEdits(
  context: EngineContext,
  installation: Installation,
  edited: readonly string[],
  named: readonly string[],
  range: string | null = null,
): readonly string[] {
  return named.map((given) => {
    const path = placeOf(context, given);
    if (isEdited(path, edited)) return path;
    if (range !== null) {
      throw new ClawError('USAGE', `These commits do not change ${given}.`, { path: given });
    }
    const reason = isOutside(path)
      ? `${given} is outside the project`
      : findReason(installation, path);
    throw new ClawError('USAGE', `${reason}. \`claw status\` lists your edits.`, { path: given });
  });
}

/** Returns a path from the project's root. */
function placeOf({ root, cwd }: EngineContext, given: string): string {
  return relative(root, resolve(cwd, given)).split(sep).join('/');
}

function isOutside(path: string): boolean {
  return isAbsolute(path) || path === '..' || path.startsWith('../');
}

/** Says why a path of the project is no edit. */
function findReason(installation: Installation, path: string): string {
  const { root, config, state, releaseDigests } = installation;
  const published = [...releaseDigests.files.keys(), ...(state?.files.keys() ?? [])];
  if (published.some((one) => isAtOrBelow(one, path))) {
    const layers = layersOn(path, readInstalledPackages(installation));
    if (layers.length === 0) return `${path} is as the release has it`;
    return `${path} is as ${layers.join(' and ')} made it`;
  }
  const found = lstat(join(root, path));
  if (found === null) return `There is no ${path}`;
  if (!isProjectPath(found.isDirectory() ? `${path}/.` : path, config)) {
    return `${path} is not part of the core, and no skill brings it`;
  }
  if (found.isDirectory()) return `There is no file in ${path} that git does not ignore`;
  if (found.isFile()) return `${path} is ignored by git, so it is neither the core’s nor an edit`;
  return `${path} is not a regular file, and skills bring nothing else`;
}

/** Returns the layers that work on a path, or on files below it. */
function layersOn(path: string, layers: readonly SkillPackage[]): readonly string[] {
  return layers
    .filter(({ manifest: { adds, modifies, fileOps } }) => {
      const moved = fileOps.flatMap((op) => (op.type === 'delete' ? [op.path] : [op.from, op.to]));
      return [...adds, ...modifies, ...moved].some((one) => isAtOrBelow(one, path));
    })
    .map(({ manifest }) => manifest.skill);
}

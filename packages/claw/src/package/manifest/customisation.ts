import { isSameFile, type Tree, type TreeFile } from '@patchclaw/merge';
import { stringify } from 'yaml';
import { ClawError } from '../../errors.ts';
import { addedFile, baseFile, modifiedFile } from '../accessors.ts';
import type { SkillPackage } from '../package.ts';
import { packageFromFiles } from '../package-from-files.ts';

/** One file of a customisation: what it was written against and what it should be; null where none is. */
export type CustomFile = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
};

export type CustomisationHead = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly coreVersion: string | null;
};

/**
 * Makes a package of changes, as a layer of the owner's own.
 *
 * @param files changes that are some: before and after differ
 * @throws ClawError LIMIT_EXCEEDED, PATH_PROTECTED for what no tree may hold
 */
export function makeCustomisation(
  head: CustomisationHead,
  files: readonly CustomFile[],
): SkillPackage {
  const sorted = [...files].sort((one, other) => (one.path < other.path ? -1 : 1));
  const manifest = {
    skill: head.name,
    version: head.version,
    description: head.description,
    core_version: head.coreVersion ?? '0.0.0',
    adds: sorted.filter(({ before }) => before === null).map(({ path }) => path),
    modifies: sorted
      .filter(({ before, after }) => before !== null && after !== null)
      .map(({ path }) => path),
    file_ops: sorted
      .filter(({ after }) => after === null)
      .map(({ path }) => ({ type: 'delete', path })),
  };
  const text = Buffer.from(stringify(manifest, { lineWidth: 0 }));
  const tree = new Map<string, TreeFile>([['manifest.yaml', { bytes: text, isExecutable: false }]]);
  for (const { path, before, after } of sorted) {
    if (before !== null) tree.set(`base/${path}`, before);
    if (after !== null) tree.set(`${before === null ? 'add' : 'modify'}/${path}`, after);
  }
  try {
    return packageFromFiles(tree satisfies Tree, { protectedPaths: [], kind: 'customisation' });
  } catch (error) {
    throw withWayOut(error);
  }
}

/**
 * Adds the way out to the refusal of a file name: only the owner can change that, and the rest of their work
 * is fine.
 */
function withWayOut(error: unknown): unknown {
  if (!(error instanceof ClawError) || error.code !== 'PATH_UNSAFE') return error;
  const message = `${error.message} Rename the file, or let git ignore it, and record again.`;
  return new ClawError(error.code, message, { path: error.path, data: error.data, cause: error });
}

/** Lists a customisation's changes, file by file. */
export function customFiles(layer: SkillPackage): readonly CustomFile[] {
  const { adds, modifies, fileOps } = layer.manifest;
  return [
    ...adds.map((path) => ({ path, before: null, after: addedFile(layer, path) })),
    ...modifies.map((path) => ({
      path,
      before: baseFile(layer, path),
      after: modifiedFile(layer, path),
    })),
    ...fileOps.flatMap((op) =>
      op.type === 'delete'
        ? [{ path: op.path, before: baseFile(layer, op.path), after: null }]
        : [],
    ),
  ];
}

/**
 * Returns the same customisation with one file written against another ancestor. Its version counts on, since
 * its bytes are others. Null where nothing is left of it.
 */
export function reanchored(layer: SkillPackage, file: CustomFile): SkillPackage | null {
  const { manifest } = layer;
  const rest = customFiles(layer).filter(({ path }) => path !== file.path);
  const files = isSameFile(file.before, file.after) ? rest : [...rest, file];
  if (files.length === 0) return null;
  const { skill: name, description, coreVersion } = manifest;
  return makeCustomisation(
    { name, version: next(manifest.version), description, coreVersion },
    files,
  );
}

function next(version: string): string {
  const [major, minor, patch] = version.split('.').map(Number);
  return `${major ?? 1}.${minor ?? 0}.${(patch ?? 0) + 1}`;
}

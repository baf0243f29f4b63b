import type { Stats } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { checkContents, checkMarkers, checkStructured, testFile } from './checks/contents.ts';
import { checkPath, showPath } from './checks/paths.ts';
import {
  checkProtected,
  createCustomisationProtection,
  createProtection,
} from './checks/protection.ts';
import { checkTargets, targetsOf } from './checks/targets.ts';
import { checkIdentity } from './identity.ts';
import { checkDeclarations } from './manifest/declarations.ts';
import type { Manifest } from './manifest/manifest.ts';
import { readManifest } from './manifest/manifest-schema.ts';
import { digestPackage, type SkillPackage } from './package.ts';
import { lstat } from './regular-file.ts';

const MAX_FILES = 2000;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

/** Conditions that a package must meet. */
export type PackageOptions = {
  /** The codebase's own protected globs; the engine's are always added. */
  readonly protectedPaths: readonly string[];
  /** Files of the project, to find names that a disk would unify with the package's. */
  readonly existingPaths?: readonly string[];
  /** The project's folder, to find links on the way to the targets. */
  readonly projectDir?: string;
  /**
   * A recorded customisation carries `package.json` and its like as files, and may touch what is
   * protected from skills, but not `.git` or `.claw`. A skill by default.
   */
  readonly kind?: SkillPackage['kind'];
};

/** An entry of a package's source that is not a regular file, found without opening it. */
export type IrregularEntry = { readonly path: string; readonly kind: 'link' | 'special' };

/**
 * Makes a checked package of files that are kept anywhere. `.git` and `.DS_Store` are not part of it.
 *
 * @param files by their path in the package
 * @param irregular what the source holds beside regular files; any of it refuses the package
 * @throws ClawError with the first code of the refusal table that applies
 */
export function packageFromFiles(
  files: Tree,
  options: PackageOptions,
  irregular: readonly IrregularEntry[] = [],
): SkillPackage {
  const own: Tree = new Map([...files].filter(([path]) => !isForeign(path)));
  const manifest = readOwnManifest(own, irregular);
  checkLimits(own);
  checkIdentity(manifest);

  const targets = targetsOf(manifest);
  for (const path of [...targets, ...manifest.test]) checkPath(path);
  for (const path of own.keys()) checkPath(path.replace(/^(add|modify|base)\//, ''));
  const protection =
    options.kind === 'customisation'
      ? createCustomisationProtection()
      : createProtection(options.protectedPaths);
  for (const path of targets) checkProtected(path, protection);
  checkTargets(manifest, options.existingPaths ?? []);

  for (const entry of irregular) throw irregularError(entry);
  if (options.projectDir !== undefined) checkTargetLinks(options.projectDir, targets);
  checkContents(manifest, own);
  if (options.kind !== 'customisation') checkStructured(targets);
  checkDeclarations(manifest.structured);
  checkMarkers(own);

  const test = manifest.test.map((path) => testFile(path, own) ?? path);
  return {
    kind: options.kind ?? 'skill',
    manifest: { ...manifest, test },
    digest: digestPackage(own),
    files: own,
    inferredBases: new Map(),
    withoutBase: new Set(),
  };
}

/**
 * Checks every folder on the way to each target in the project, so that a package can never write through a
 * link to a place outside it.
 *
 * @throws ClawError LINK_REFUSED for a symbolic link, FILE_KIND for a FIFO, socket or device; the path is the
 *   offending entry's, relative to the project
 */
function checkTargetLinks(projectDir: string, targets: readonly string[]): void {
  const seen = new Set<string>();
  for (const target of targets) {
    const parts = target.split('/');
    for (const at of parts.keys()) {
      const path = parts.slice(0, at + 1).join('/');
      if (seen.has(path)) continue;
      seen.add(path);
      checkEntry(path, lstat(join(projectDir, path)), target);
    }
  }
}

function checkEntry(path: string, entry: Stats | null, target: string): void {
  if (entry === null || entry.isFile() || entry.isDirectory()) return;
  const isLink = entry.isSymbolicLink();
  throw new ClawError(
    isLink ? 'LINK_REFUSED' : 'FILE_KIND',
    `${path} in your project is ${isLink ? 'a symbolic link' : 'not a regular file'}, so ${target} ` +
      'is not written there. Replace it by a real file or folder.',
    { path, data: { target } },
  );
}

/**
 * Rebuilds a package from its files, where its manifest is known and all of it was checked before. Valid if,
 * and only if, its digest is the one that was checked.
 */
export function packageAgain(
  files: Tree,
  known: Pick<SkillPackage, 'kind' | 'manifest'>,
): SkillPackage {
  const own: Tree = new Map([...files].filter(([path]) => !isForeign(path)));
  const digest = digestPackage(own);
  return { ...known, digest, files: own, inferredBases: new Map(), withoutBase: new Set() };
}

/** @throws ClawError LIMIT_EXCEEDED when a package has too many files, or too many bytes in them */
export function checkSize(size: { readonly files: number; readonly bytes: number }): void {
  if (size.files <= MAX_FILES && size.bytes <= MAX_TOTAL_BYTES) return;
  throw new ClawError(
    'LIMIT_EXCEEDED',
    `The package has ${size.files} files with ${size.bytes} bytes or more; at most ${MAX_FILES} ` +
      `files with ${MAX_TOTAL_BYTES} bytes are taken.`,
    { data: { ...size, limitFiles: MAX_FILES, limitBytes: MAX_TOTAL_BYTES } },
  );
}

/** Tells whether an entry of a package's folder belongs to git or a file browser, not to the package. */
export function isForeign(path: string): boolean {
  return path === '.git' || path.startsWith('.git/') || /(^|\/)\.DS_Store$/.test(path);
}

function readOwnManifest(files: Tree, irregular: readonly IrregularEntry[]): Manifest {
  const file = files.get('manifest.yaml');
  if (file !== undefined) return readManifest(file.bytes, files.keys());
  for (const entry of irregular) if (entry.path === 'manifest.yaml') throw irregularError(entry);
  throw new ClawError(
    'FILE_MISSING',
    'The package has no manifest.yaml. Is this the folder of a skill?',
    { path: 'manifest.yaml' },
  );
}

function checkLimits(files: Tree): void {
  const bytes = [...files.values()].reduce((sum, file) => sum + file.bytes.length, 0);
  checkSize({ files: files.size, bytes });
}

function irregularError(entry: IrregularEntry): ClawError {
  const path = showPath(entry.path);
  return entry.kind === 'link'
    ? new ClawError(
        'LINK_REFUSED',
        `${path} in the package is a symbolic link. Put a copy of the file there.`,
        { path },
      )
    : new ClawError(
        'FILE_KIND',
        `${path} in the package is a FIFO, socket or device. Take it out.`,
        { path },
      );
}

import { createHash } from 'node:crypto';
import type { Tree, TreeFile } from '@patchclaw/merge';
import type { Digest } from '../digest.ts';
import type { Manifest } from './manifest/manifest.ts';

/**
 * A skill package, whole and checked: nothing of it is read from disk again.
 *
 * `files` holds every file of the folder by its path in it (`SKILL.md`, `add/src/a.ts`,
 * `modify/src/b.ts`, `base/src/b.ts`, `tests/a.test.ts`); `digest` covers all of them with their modes.
 */
export type SkillPackage = {
  /** A recorded customisation may touch more than a skill, and comes after all of them. */
  readonly kind: 'skill' | 'customisation';
  readonly manifest: Manifest;
  readonly digest: Digest;
  readonly files: Tree;
  /** Ancestors found in the core's history for paths that the package carries none for. */
  readonly inferredBases: ReadonlyMap<string, TreeFile>;
  /** Paths whose ancestor is unknown: no line of the core may be removed there without a decision. */
  readonly withoutBase: ReadonlySet<string>;
  /** The place in `.claw/` where all of its files are kept already, as they are here. */
  readonly keptAt?: string;
};

/**
 * Computes one digest over every file of a package: its path, whether it is executable, and its bytes.
 *
 * Lengths come before contents, so that no two different packages feed the hash the same bytes. The order in
 * which files were found does not count.
 */
export function digestPackage(files: Tree): Digest {
  const hash = createHash('sha256');
  const paths = [...files.keys()].sort();
  hash.update(`package ${paths.length}\n`);
  for (const path of paths) {
    const file = files.get(path);
    if (file === undefined) continue;
    const mode = file.isExecutable ? 'x' : '-';
    hash.update(`${Buffer.byteLength(path)} ${path} ${mode} ${file.bytes.length} `);
    hash.update(file.bytes);
  }
  return `sha256:${hash.digest('hex')}`;
}

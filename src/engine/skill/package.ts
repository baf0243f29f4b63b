import type { Digest } from '../digest.ts';
import type { Tree } from '../tree.ts';
import type { Manifest } from './manifest.ts';

/**
 * A skill package, whole and checked: nothing of it is read from disk again.
 *
 * `files` holds every file of the folder by its path in it (`SKILL.md`, `add/src/a.ts`,
 * `modify/src/b.ts`, `base/src/b.ts`, `tests/a.test.ts`); `digest` covers all of them with their modes.
 */
export type SkillPackage = {
  readonly manifest: Manifest;
  readonly digest: Digest;
  readonly files: Tree;
};

import { join } from 'node:path';
import { isSameFile, type Tree } from '@patchclaw/merge';
import { ClawError } from '../../errors.ts';
import { listFolder } from '../../installed/claw-folder.ts';
import { readTree, readTreeFile } from '../../installed/disk.ts';
import type { Release } from '../../installed/release.ts';
import type { Resolution } from '../../installed/resolution.ts';
import { parseResolution, resolutionPath } from '../../installed/resolution-file.ts';
import type { ExtraChange } from '../../operation/planned-operation.ts';
import { skillDigests, skillOf } from '../../operation/release-state.ts';
import { lstat } from '../../package/regular-file.ts';
import type { OldCore } from './cores.ts';

/** The files of a release beside the core. */
export type ReleaseExtras = {
  readonly changes: readonly ExtraChange[];
  /** Packages that are new here, others than before, or gone. */
  readonly brought: readonly string[];
  /** Packages that the owner edited or took away: left alone. */
  readonly kept: readonly string[];
  readonly notes: readonly string[];
  /** The recordings that there are, with those of the release. */
  readonly resolutions: (present: readonly Resolution[]) => readonly Resolution[];
};

/**
 * Plans bringing a release's `skills/` and recorded resolutions. A package that is not what the last
 * release brought is the owner's work, and stays.
 */
export function planReleaseExtras(root: string, old: OldCore, release: Release): ReleaseExtras {
  const skills = planSkills(root, old, release.extras);
  const recordings = planRecordings(root, release.extras);
  return {
    changes: [...skills.changes, ...recordings.changes],
    brought: skills.brought,
    kept: skills.kept,
    notes: [
      ...skills.kept.map((name) => `skills/${name} stays as it is here: it is not the release's.`),
      ...recordings.notes,
    ],
    resolutions: (present) => {
      const known = new Set(present.map(({ key }) => key));
      return [...present, ...recordings.found.filter(({ key }) => !known.has(key))];
    },
  };
}

function planSkills(root: string, old: OldCore, extras: Tree) {
  const wanted = skillDigests(extras);
  const before = old.skills;
  const present = readSkills(root);
  const there = skillDigests(present);
  const changes: ExtraChange[] = [];
  const brought: string[] = [];
  const kept: string[] = [];
  for (const name of [...new Set([...Object.keys(wanted), ...Object.keys(before)])].sort()) {
    if (there[name] === wanted[name] || before[name] === wanted[name]) continue;
    if (there[name] !== before[name] || (wanted[name] === undefined && !old.isReleased)) {
      kept.push(name);
      continue;
    }
    brought.push(name);
    changes.push(...differences(present, extras, name));
  }
  return { changes, brought, kept };
}

function readSkills(root: string): Tree {
  const paths = listFolder(join(root, 'skills'))
    .map((path) => `skills/${path}`)
    .filter((path) => !path.includes('/node_modules/'))
    .filter((path) => lstat(join(root, path))?.isFile() === true);
  return readTree(root, paths);
}

function differences(present: Tree, wanted: Tree, name: string): readonly ExtraChange[] {
  const paths = [...new Set([...present.keys(), ...wanted.keys()])];
  return paths
    .filter((path) => skillOf(path) === name)
    .sort()
    .flatMap((path) => {
      const before = present.get(path) ?? null;
      const after = wanted.get(path) ?? null;
      return isSameFile(before, after) ? [] : [{ path, before, after }];
    });
}

function planRecordings(root: string, extras: Tree) {
  const changes: ExtraChange[] = [];
  const found: Resolution[] = [];
  const notes: string[] = [];
  for (const [path, file] of extras) {
    const key = /^\.claw\/resolutions\/([0-9a-f]{16})\.yaml$/.exec(path)?.[1];
    if (key === undefined) continue;
    const place = resolutionPath(key);
    if (readTreeFile(root, place) !== null) continue;
    try {
      found.push(parseResolution(file.bytes, { key, place, pinned: null }));
      changes.push({ path: place, before: null, after: { ...file, isExecutable: false } });
    } catch (error) {
      if (!(error instanceof ClawError)) throw error;
      notes.push(`A recording of the release is left out: ${error.message}`);
    }
  }
  return { changes, found, notes };
}

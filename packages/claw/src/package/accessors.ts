import type { TreeFile } from '@patchclaw/merge';
import type { SkillPackage } from './package.ts';

/** Returns the file that a package brings to a path of the project, or null. */
export function addedFile(skill: SkillPackage, path: string): TreeFile | null {
  return skill.files.get(`add/${path}`) ?? null;
}

/** Returns the file as a package wants it to be, or null where it modifies none. */
export function modifiedFile(skill: SkillPackage, path: string): TreeFile | null {
  return skill.files.get(`modify/${path}`) ?? null;
}

/** Returns the file that a package's change was written against: its own, else the inferred one; or null. */
export function baseFile(skill: SkillPackage, path: string): TreeFile | null {
  return skill.files.get(`base/${path}`) ?? skill.inferredBases.get(path) ?? null;
}

/** Returns the author's note about a modified file, for resolving a conflict in it; or null. */
export function intentNote(skill: SkillPackage, path: string): string | null {
  return skill.files.get(`modify/${path}.intent.md`)?.bytes.toString('utf8') ?? null;
}

/**
 * Returns the paths of a package's tests in a tree that holds it: under `skills/<name>/`, except for a test
 * that is itself a file which the package adds to the project.
 */
export function testTargets(skill: SkillPackage): readonly string[] {
  return skill.manifest.test.map((path) => {
    const target = /^(?:add|modify)\/(.+)$/.exec(path)?.[1];
    return target ?? `skills/${skill.manifest.skill}/${path}`;
  });
}

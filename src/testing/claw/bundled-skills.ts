import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../../packages/claw/src/package/manifest/manifest.ts';
import { readPackage } from '../../../packages/claw/src/package/read-package.ts';

const SKILLS = join(import.meta.dirname, '../../../skills');

/** Returns the names of the skills in this repository, by the alphabet. */
export function bundledSkills(): readonly string[] {
  return readdirSync(SKILLS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Returns what the engine makes of a skill's manifest and folders. */
export function manifestOf(name: string): Manifest {
  return readPackage(join(SKILLS, name), { protectedPaths: [] }).manifest;
}

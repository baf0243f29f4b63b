import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isKeptSkill, keptSkills, readKeptFile } from './kept-packages.ts';

/** Returns the skills of this tree that are not in the code, by name: those whose packages are in `skills/`. */
export function readSkillsToAdd(projectDir: string): readonly string[] {
  return foldersIn(join(projectDir, 'skills')).filter(
    (name) =>
      existsSync(join(projectDir, 'skills', name, 'manifest.yaml')) &&
      !isKeptSkill(projectDir, name),
  );
}

/** Returns the skill that has brought a file, by the packages of those that are in the code; null for none. */
export function skillOfFile(projectDir: string, file: string): string | null {
  const path = `add/${relative(projectDir, file)}`;
  const isOf = (name: string) => readKeptFile(projectDir, name, path) !== null;
  return keptSkills(projectDir).find(isOf) ?? null;
}

/** Returns an available skill that would bring the file at a path; null if none does. */
export function skillToAddWith(projectDir: string, path: string): string | null {
  const brings = (name: string) => existsSync(join(projectDir, 'skills', name, 'add', path));
  return readSkillsToAdd(projectDir).find(brings) ?? null;
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted();
  } catch {
    return []; // A tree without skills has no such folder.
  }
}

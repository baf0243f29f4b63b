import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Returns the skills of this tree that are not in the code, by name: those whose packages are in `skills/`. */
export function readSkillsToAdd(projectDir: string): readonly string[] {
  return foldersIn(join(projectDir, 'skills')).filter(
    (name) =>
      existsSync(join(projectDir, 'skills', name, 'manifest.yaml')) &&
      !existsSync(join(packagesOf(projectDir), name)),
  );
}

/** Returns the skill that has brought a file, by the packages of those that are in the code; null for none. */
export function skillOfFile(projectDir: string, file: string): string | null {
  const path = relative(projectDir, file);
  const packages = packagesOf(projectDir);
  return foldersIn(packages).find((name) => existsSync(join(packages, name, 'add', path))) ?? null;
}

const packagesOf = (projectDir: string): string => join(projectDir, '.claw/packages');

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted();
  } catch {
    return []; // A tree without skills has no such folder.
  }
}

import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Starters of a persona, and the folder of `groups/` that each goes to: what is private stays with the owner's chat. */
const STARTERS = [
  { name: 'SOUL.md', folder: 'global' },
  { name: 'IDENTITY.md', folder: 'global' },
  { name: 'AGENTS.md', folder: 'global' },
  { name: 'TOOLS.md', folder: 'global' },
  { name: 'USER.md', folder: 'main' },
  { name: 'ENVIRONMENT.md', folder: 'main' },
] as const;
const BOOTSTRAP = { name: 'BOOTSTRAP.md', folder: 'main' } as const;

export type WrittenStarters = {
  /** Paths below the project that were written. */
  readonly written: readonly string[];
  /** Those that were there, and are as they were. */
  readonly kept: readonly string[];
};

/** Returns the files that are there already, by their names. */
export function readStarters(projectDir: string): readonly string[] {
  return STARTERS.filter(({ name, folder }) =>
    existsSync(join(projectDir, 'groups', folder, name)),
  ).map(({ name }) => name);
}

/**
 * Writes the starters that are not there yet. The introduction comes with the first of them, since it is there
 * once; `again` brings it back.
 */
export function writeStarters(projectDir: string, again: boolean): WrittenStarters {
  const written: string[] = [];
  const kept: string[] = [];
  const write = (starter: { readonly name: string; readonly folder: string }) => {
    const isNew = writeStarter(projectDir, starter);
    (isNew ? written : kept).push(`groups/${starter.folder}/${starter.name}`);
    return isNew;
  };
  const news = STARTERS.map(write);
  if (again || !news.includes(false)) write(BOOTSTRAP);
  return { written, kept };
}

function writeStarter(
  projectDir: string,
  { name, folder }: { readonly name: string; readonly folder: string },
): boolean {
  const at = join(projectDir, 'groups', folder);
  mkdirSync(join(projectDir, 'groups'), { recursive: true, mode: 0o700 });
  mkdirSync(at, { recursive: true });
  const text = readFileSync(join(projectDir, 'container/shared/persona', name));
  const path = join(at, name);
  try {
    // The name itself must be new: no file of the owner's is written over, and no link is followed.
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // A container that runs already has to be able to write there.
  const { uid, gid } = statSync(at);
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
  return true;
}

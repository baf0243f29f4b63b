import {
  closeSync,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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
  const file = createNew(join(at, name));
  if (file === null) return false;
  try {
    writeFileSync(file, text);
    // A container that runs already has to be able to write there. It could also have put a link under the name
    // since, so the open file is given away, never what bears its name now.
    const { uid, gid } = statSync(at);
    if (process.getuid?.() === 0) fchownSync(file, uid, gid);
  } finally {
    closeSync(file);
  }
  return true;
}

/** Opens a file whose name must be new: nothing of the owner's is written over, and no link is followed. */
function createNew(path: string): number | null {
  try {
    return openSync(path, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null;
    throw error;
  }
}

import { link, lstat, mkdir, readFile, unlink } from 'node:fs/promises';
import { readHead } from '../files/read-head.ts';
import type { Places } from '../prompt-section.ts';
import { readPersonaFile } from './files.ts';

const MAX_BYTES = 20_480;
/** A file that is longer is no starter, and need not be read to be kept. */
const MAX_STARTER_BYTES = 65_536;
/** Files that the introduction fills in. */
const FILLED = ['IDENTITY', 'USER'] as const;

type BootstrapPlaces = Pick<Places, 'group' | 'global' | 'shared'>;

/**
 * Returns the text of the introduction, or null where there is none or it is over. It is over once both files
 * that it fills in have words of somebody's in them: then it goes, see `endBootstrap`.
 */
export async function openBootstrap(
  places: BootstrapPlaces,
  today: string,
): Promise<string | null> {
  const path = bootstrapPath(places);
  const found = await lstat(path).catch(() => null);
  if (found === null || !found.isFile()) return null;
  const filled = await Promise.all(FILLED.map((name) => isFilled(name, places)));
  if (!filled.includes(false)) {
    await endBootstrap(places, today);
    return null;
  }
  return await readHead(path, MAX_BYTES);
}

/**
 * Takes the introduction away: deletes it where it is as the starter, and else keeps it as
 * `.done/BOOTSTRAP-<day>.md`, since somebody has written in it.
 *
 * @returns where it is kept; null where it was deleted
 * @throws Error ENOENT where there is none; another one where it is not a file
 */
export async function endBootstrap(places: BootstrapPlaces, today: string): Promise<string | null> {
  const path = bootstrapPath(places);
  const found = await lstat(path);
  if (!found.isFile()) {
    throw new Error(
      `${path} is not a file but a folder, a link or a pipe. The owner has to look what it is.`,
    );
  }
  const text = found.size > MAX_STARTER_BYTES ? null : await readFile(path, 'utf8');
  if (text !== null && text === (await starter('BOOTSTRAP', places))) {
    await unlink(path);
    return null;
  }
  const folder = `${places.group}/.done`;
  await mkdir(folder, { recursive: true });
  const kept = await linkUnderNewName(path, `${folder}/BOOTSTRAP-${today}`);
  await unlink(path);
  return kept;
}

/** Gives a file a second name that no other file has. */
async function linkUnderNewName(path: string, name: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const to = count === 1 ? `${name}.md` : `${name}-${count}.md`;
    try {
      await link(path, to);
      return to;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

async function isFilled(name: (typeof FILLED)[number], places: BootstrapPlaces): Promise<boolean> {
  const found = await readPersonaFile(name, places);
  return found !== null && found.text !== (await starter(name, places))?.trim();
}

async function starter(name: string, { shared }: BootstrapPlaces): Promise<string | null> {
  return await readFile(`${shared}/persona/${name}.md`, 'utf8').catch(() => null);
}

function bootstrapPath({ group }: BootstrapPlaces): string {
  return `${group}/BOOTSTRAP.md`;
}

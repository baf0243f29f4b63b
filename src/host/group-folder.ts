import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mediaFolder } from '../sandbox/sandbox.ts';
import { folderNameProblem } from './folder-name.ts';
import { removeTree, removeTreeAtOnce } from './remove-tree.ts';

/** Where the folders of groups lie, and what their agents keep beside them. */
export type FolderPlaces = { readonly projectDir: string; readonly dataDir: string };

const MEMORY = `# Memory of this chat

What is worth remembering about the people here, their wishes and their plans belongs in this file:
one line each, the newest at the end, outdated ones taken out.
`;

/**
 * Makes a group's folder with its memory and its logs, or what of it is missing.
 *
 * An agent may have written here before and left links: what has a name is left alone, whatever it
 * is, and nothing is opened through it.
 */
export function makeGroupFolder({ projectDir }: FolderPlaces, folder: string): void {
  const path = join(projectDir, 'groups', folder);
  mkdirSync(join(projectDir, 'groups'), { recursive: true });
  unlessThere(() => mkdirSync(path));
  // With `wx` the name itself must be new: a link is not followed, not even one that leads nowhere.
  unlessThere(() => writeFileSync(join(path, 'CLAUDE.md'), MEMORY, { flag: 'wx' }));
  unlessThere(() => mkdirSync(join(path, 'logs')));
}

/** Whether something of a folder is on disk, in any case: files, or what its agent remembered. */
export function isLeftOnDisk({ projectDir, dataDir }: FolderPlaces, folder: string): boolean {
  return [join(projectDir, 'groups'), join(dataDir, 'sessions')].some((parent) =>
    namesIn(parent).some((name) => name.normalize('NFC').toLowerCase() === folder.toLowerCase()),
  );
}

/**
 * Deletes a group's folder and what its agent kept. Links in it are deleted, never followed; its
 * container must not run any more.
 */
export async function deleteGroupFolder(places: FolderPlaces, folder: string): Promise<void> {
  const problem = folderNameProblem(folder);
  if (problem !== null) throw new Error(`groups/${folder} is not deleted: the name ${problem}.`);
  for (const parent of [join(places.projectDir, 'groups'), join(places.dataDir, 'sessions')]) {
    await removeTree(join(parent, folder));
  }
  await removeTree(mediaFolder(places.dataDir, folder));
}

/** Deletes the conversations of a folder's agent and the files it was shown, which its next chat must not get to read. */
export function forgetConversations({ dataDir }: FolderPlaces, folder: string): void {
  removeTreeAtOnce(join(dataDir, 'sessions', folder));
  removeTreeAtOnce(mediaFolder(dataDir, folder));
}

function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

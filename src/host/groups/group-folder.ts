import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mediaFolder } from '../../sandbox/sandbox.ts';
import type { HostLog } from '../contracts/log.ts';
import { folderNameProblem } from './folder-name.ts';

/** Paths that hold the folders of groups, and their agents' sessions. */
export type FolderPlaces = { readonly projectDir: string; readonly dataDir: string };

/** First memories of chats, shipped with the project; `groups/` itself is private and not in git. */
const TEMPLATES = 'container/memory';

/**
 * Makes a group's folder with its memory and its logs, or the missing parts of it.
 *
 * An agent may have written here before and left links. So existing names are left alone, whatever they are, and
 * nothing is opened through them.
 */
export function makeGroupFolder({ projectDir }: FolderPlaces, folder: string): void {
  const path = makeMemory(projectDir, folder, folder === 'main' ? 'main.md' : 'group.md');
  unlessThere(() => mkdirSync(join(path, 'logs')));
}

/** Makes the folder of the memory that all groups share, or the missing parts of it. */
export function makeSharedFolder({ projectDir }: Pick<FolderPlaces, 'projectDir'>): void {
  makeMemory(projectDir, 'global', 'global.md');
}

/** Returns the folder. */
function makeMemory(projectDir: string, folder: string, template: string): string {
  const path = join(projectDir, 'groups', folder);
  mkdirSync(join(projectDir, 'groups'), { recursive: true, mode: 0o700 });
  unlessThere(() => mkdirSync(path));
  const memory = () => readTemplate(projectDir, template);
  // With `wx` the name itself must be new: a link is not followed, not even one that leads nowhere.
  unlessThere(() => writeFileSync(join(path, 'CLAUDE.md'), memory(), { flag: 'wx' }));
  return path;
}

function readTemplate(projectDir: string, name: string): string {
  try {
    return readFileSync(join(projectDir, TEMPLATES, name), 'utf8');
  } catch (error) {
    // A project without templates still has memories; they begin with a heading.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '# Memory of this chat\n';
    throw error;
  }
}

/** Tells whether anything of a folder is on disk, in any case: files, or its agent's sessions. */
export function isLeftOnDisk({ projectDir, dataDir }: FolderPlaces, folder: string): boolean {
  return [join(projectDir, 'groups'), join(dataDir, 'sessions')].some((parent) =>
    namesIn(parent).some((name) => name.normalize('NFC').toLowerCase() === folder.toLowerCase()),
  );
}

/**
 * Deletes a group's folder and everything that its agent kept. Links in it are deleted, never followed. Its container
 * must not run any more.
 */
export async function deleteGroupFolder(places: FolderPlaces, folder: string): Promise<void> {
  const problem = folderNameProblem(folder);
  if (problem !== null) throw new Error(`groups/${folder} is not deleted: the name ${problem}.`);
  for (const parent of [join(places.projectDir, 'groups'), join(places.dataDir, 'sessions')]) {
    await removeTree(join(parent, folder));
  }
  await removeTree(mediaFolder(places.dataDir, folder));
  // What skills keep about this chat, such as a guard's log.
  await removeTree(join(places.dataDir, 'of-chats', folder));
}

/**
 * Deletes a folder that an agent wrote to, whatever it left there: folders that are closed, and such
 * as lie deeper than a path can name. Links are deleted, never followed; nothing may write there now.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(code)) throw error;
    removeTreeAtOnce(path);
  }
}

/** The same, while everything else waits. It goes down folder by folder, not by whole paths. */
function removeTreeAtOnce(path: string): void {
  openFolders(path);
  rmSync(path, { recursive: true, force: true });
}

function openFolders(path: string): void {
  try {
    chmodSync(path, 0o700);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      // False for a link, so that folders outside the tree stay as they are.
      if (entry.isDirectory()) openFolders(join(path, entry.name));
    }
  } catch {
    // Too deep for a path, or not ours: if that prevents the deletion, its error says so.
  }
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

/**
 * Makes a group's folder, or the missing parts of it. If that is impossible now, it is logged and tried at the next
 * start or turn, so chats still get answers.
 */
export function completeFolder(log: HostLog, folder: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    log.warn('the folder of a group is not complete', { folder, error: String(error) });
  }
}

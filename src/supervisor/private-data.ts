import { chmodSync, type Dirent, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders of the assistant's private data. */
export type PrivatePlaces = { readonly projectDir: string; readonly dataDir: string };

/** A file or folder of the assistant's that others on this machine may look into. */
export type Exposed = { readonly path: string; readonly mode: number; readonly wanted: number };

const FOLDER = 0o700;
const FILE = 0o600;
/** Made at the start; any other folder is made by its channel or service, and is private as well. */
const LOGS = 'logs';
/** Only closed: below lie files of agents, which may be another user, and see theirs by mounts. */
const CLOSED = ['media', 'run', 'sessions'];
/** Agents read it through mounts of the folder itself. */
const SHARED = ['cache'];

/**
 * Lists entries of the data folder and the groups' folders with wider rights than they should have.
 *
 * A mask for new files would do as well. But `claw`, a child of the assistant, would publish files of the
 * project under it that agents then could not read.
 */
export function findExposed(places: PrivatePlaces): readonly Exposed[] {
  const { dataDir } = places;
  const files = ['', ...ownFolders(dataDir)].flatMap((name) => filesIn(join(dataDir, name)));
  return [
    ...privateFolders(places).flatMap((path) => exposed(path, FOLDER)),
    ...files.flatMap((path) => exposed(path, FILE)),
  ];
}

/** Takes the rights away that `findExposed` finds, as far as the files are ours, and makes the folders closed. */
export function closePrivate(places: PrivatePlaces): void {
  for (const folder of privateFolders(places)) makeFolder(folder);
  for (const { path, wanted } of findExposed(places)) {
    try {
      chmodSync(path, wanted);
    } catch {
      // Another user's, or gone by now: `claw doctor` names those that stay.
    }
  }
}

/**
 * Lists the private folders. The groups' memories are in the project, for their agents and the owner's editor
 * to find.
 */
function privateFolders({ projectDir, dataDir }: PrivatePlaces): readonly string[] {
  return [
    ...['', ...ownFolders(dataDir), ...CLOSED].map((name) => join(dataDir, name)),
    join(projectDir, 'groups'),
  ];
}

/** Lists the folders whose plain files are private: the logs, and what channels and services keep. */
function ownFolders(dataDir: string): readonly string[] {
  const others = entriesOf(dataDir)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => ![LOGS, ...CLOSED, ...SHARED].includes(name));
  return [LOGS, ...others.sort()];
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: FOLDER });
  } catch {
    // No room for it, or another entry has its name: the user of the folder reports it.
  }
}

function filesIn(folder: string): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(folder, name));
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Not there yet, or not ours to read.
  }
}

/** Returns an entry whose rights are too wide. Leaves links alone: their targets are not the assistant's. */
function exposed(path: string, wanted: number): readonly Exposed[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return [];
  const mode = found.mode & 0o777;
  return (mode & 0o077) === 0 ? [] : [{ path, mode, wanted }];
}

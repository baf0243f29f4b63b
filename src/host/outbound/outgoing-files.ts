import { existsSync, mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { openBeneath } from '../../lib/open-beneath.ts';
import type { KeptFile } from '../../store/store.ts';
import { namesIn, pruneFiles } from '../attachments/media-shelf.ts';
import type { ClockPort, IdPort, StorePort } from '../contracts/ports.ts';
import type { FolderPlaces } from '../groups/group-folder.ts';
import { plainName } from '../groups/plain-name.ts';

/** Copies that are kept until they are released, or for as long as a message names them. */
export type HeldFiles = { readonly files: readonly KeptFile[]; release(): void };

/** Copies of files to be sent, so that a file is sent as it was when it was requested. */
export interface OutgoingFiles {
  /**
   * Copies files of a group's folder, and has them queued with a message. Links are not followed.
   *
   * @throws Error in words for the agent, where one is not a file of that folder, or too large
   */
  take(
    folder: string,
    paths: readonly string[],
    queue: (files: readonly KeptFile[]) => void,
  ): Promise<void>;
  /** Copies files of a group's folder, for a message that is queued later. @throws Error as `take` does */
  hold(folder: string, paths: readonly string[]): Promise<HeldFiles>;
  pathOf(file: Pick<KeptFile, 'copy'>): string;
  /**
   * Deletes the copies that no message waits for and no answer names, and the oldest of those that were sent: they are
   * kept to be looked at, for 30 days and up to a gigabyte.
   */
  sweep(): void;
}

export type OutgoingFilesOptions = StorePort & IdPort & ClockPort & FolderPlaces;

const MAX_BYTES = 20_000_000;
/** Copies wait for a channel that is not connected, up to a day: agents must not fill the disk meanwhile. */
const MAX_WAITING_BYTES = 1_000_000_000;
const CHUNK_BYTES = 256 * 1024;
/** The group's folder as its agent sees it. */
const IN_CONTAINER = '/workspace/group/';

/** Opens the folder of the copies, which is made with the first of them. */
export function openOutgoingFiles(options: OutgoingFilesOptions): OutgoingFiles {
  const { store, newId, now, projectDir, dataDir } = options;
  const shelf = join(dataDir, 'outgoing');
  /** Copies that no message names yet. */
  const underWay = new Set<string>();

  async function copy(folder: string, path: string, id: string): Promise<KeptFile> {
    const names = namesOf(path);
    const source = await openBeneath(join(projectDir, 'groups', folder), names).catch((error) => {
      throw new Error(`${path} is not sent: ${reasonOf(error)}`, { cause: error });
    });
    try {
      const sizeBytes = await copyTo(join(shelf, id), source, path);
      const name = plainName(basename(names.join('/'))) ?? 'file';
      return { copy: id, origin: `groups/${folder}/${names.join('/')}`, name, sizeBytes };
    } finally {
      await source.close();
    }
  }

  /** Returns the size. */
  async function copyTo(copied: string, source: FileHandle, path: string): Promise<number> {
    if (!(await source.stat()).isFile()) throw new Error(`${path} is not sent: it is not a file.`);
    if (bytesWaiting() >= MAX_WAITING_BYTES) {
      throw new Error(
        `${path} is not sent: ${MAX_WAITING_BYTES / 1e9} GB of files wait to be sent.`,
      );
    }
    mkdirSync(shelf, { recursive: true, mode: 0o700 });
    const target = await open(copied, 'wx', 0o600);
    try {
      const sizeBytes = await copyUpTo(source, target);
      // Most messengers refuse an empty one, and the text with it.
      if (sizeBytes === 0) throw new Error(`${path} is not sent: it is empty.`);
      utimesSync(copied, now() / 1_000, now() / 1_000);
      if (sizeBytes !== null) return sizeBytes;
      throw new Error(`${path} is not sent: it is larger than ${MAX_BYTES / 1_000_000} MB.`);
    } finally {
      await target.close();
    }
  }

  /** Returns the copies that are still to be sent. */
  function waiting(): ReadonlySet<string> {
    return new Set([...underWay, ...store.outbox.copiesToSend()]);
  }

  /** Copies that were sent, and are kept to be looked at, wait for nobody. */
  function bytesWaiting(): number {
    const toSend = waiting();
    const sizes = namesIn(shelf)
      .filter((name) => toSend.has(name) || !store.history.hasCopy(name))
      .map((name) => statSync(join(shelf, name), { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  function sweep(): void {
    const toSend = waiting();
    const others = namesIn(shelf).filter((name) => !toSend.has(name));
    for (const name of others) {
      if (!store.history.hasCopy(name)) rmSync(join(shelf, name), { force: true });
    }
    const sent = others.map((name) => join(shelf, name)).filter((path) => existsSync(path));
    pruneFiles(sent, now());
  }

  async function hold(folder: string, paths: readonly string[]): Promise<HeldFiles> {
    const wanted = paths.map((path) => ({ path, id: newId() }));
    const release = () => {
      for (const { id } of wanted) underWay.delete(id);
    };
    for (const { id } of wanted) underWay.add(id);
    try {
      const files: KeptFile[] = [];
      for (const { path, id } of wanted) files.push(await copy(folder, path, id));
      return { files, release };
    } catch (error) {
      release();
      for (const { id } of wanted) rmSync(join(shelf, id), { force: true });
      throw error;
    }
  }

  return {
    async take(folder, paths, queue) {
      const { files, release } = await hold(folder, paths);
      try {
        queue(files);
      } catch (error) {
        for (const { copy: id } of files) rmSync(join(shelf, id), { force: true });
        throw error;
      } finally {
        release();
      }
    },
    hold,
    pathOf: ({ copy: id }) => join(shelf, id),
    sweep,
  };
}

/** Splits a path in a group's folder, as its agent writes it, into names. */
function namesOf(path: string): readonly string[] {
  const inside = path.startsWith(IN_CONTAINER) ? path.slice(IN_CONTAINER.length) : path;
  const plain = posix.normalize(inside);
  if (plain.includes('\0') || plain === '.' || /^(\/|\.\.(\/|$))/.test(plain)) {
    throw new Error(
      `${path} is not sent: only files of this chat's own folder, /workspace/group, can be.`,
    );
  }
  return plain.replace(/\/$/, '').split('/');
}

/** Copies a file that may grow meanwhile. Returns its size; null where it is too large. */
async function copyUpTo(source: FileHandle, target: FileHandle): Promise<number | null> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let sizeBytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, chunk.length, sizeBytes);
    if (bytesRead === 0) break;
    await target.write(chunk, 0, bytesRead);
    sizeBytes += bytesRead;
    if (sizeBytes > MAX_BYTES) return null;
  }
  // The message that names it is on disk as soon as it is queued.
  await target.sync();
  return sizeBytes;
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file in this chat’s folder.';
  if (code === 'ELOOP' || code === 'ENOTDIR') {
    return 'it is a link or below one, and links are not followed. Send the file itself.';
  }
  if (code === 'ENXIO') return 'it is not a file.';
  if (code === 'EACCES')
    return 'the assistant may not read it. Make it readable for all (chmod a+r).';
  return error instanceof Error ? error.message : String(error);
}

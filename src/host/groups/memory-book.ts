import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inFolderBeneath } from '../../lib/open-beneath.ts';
import type { MemoryAuthor, MemoryVersion } from '../../store/store.ts';
import type { ClockPort, ProjectPort, StorePort } from '../contracts/ports.ts';
import { GroupRefused } from './group-refused.ts';

/** The outcome of a write: another version was there than the one it was made from, and stays. */
export type MemoryWrite =
  | { readonly kind: 'written'; readonly version: MemoryVersion }
  | { readonly kind: 'outdated'; readonly now: MemoryVersion };

/** The `CLAUDE.md` of each group, with its versions; `global` is the folder of all groups. */
export interface MemoryBook {
  /**
   * Reads a memory as it is now, and notes it as a version if that is new. Null where it was never there.
   *
   * @throws GroupRefused where it cannot be read, such as a link
   */
  read(folder: string): Promise<MemoryVersion | null>;
  /** Notes who has changed it, if somebody has. Never throws. */
  note(folder: string, author: MemoryAuthor): void;
  /** Returns the newest versions, newest first. */
  last(folder: string, limit: number): readonly MemoryVersion[];
  /** Returns a version, and the one before it; null where there is none. */
  version(
    folder: string,
    seq: number,
  ): { readonly version: MemoryVersion; readonly before: MemoryVersion | null } | null;
  /**
   * Writes a memory as the owner, unless it is not at version `from` any more. 0 is that of a memory without versions.
   *
   * @throws GroupRefused where it is too long, or cannot be written
   */
  write(folder: string, text: string, from: number): Promise<MemoryWrite>;
}

const FILE = 'CLAUDE.md';
const MAX_BYTES = 1_048_576;

export function openMemoryBook({
  store,
  now,
  projectDir,
}: StorePort & ClockPort & ProjectPort): MemoryBook {
  const { memoryVersions } = store;
  const groups = join(projectDir, 'groups');
  const newest = (folder: string) => memoryVersions.last(folder, 1)[0] ?? null;

  /**
   * The folder itself is the host's; what is in it may be a link that the agent has left. Read at once: a turn that
   * begins must find the version before its own.
   */
  function textOf(folder: string): string | null {
    const path = join(groups, folder, FILE);
    try {
      const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const stats = fstatSync(file);
        if (stats.isFile() && stats.size <= MAX_BYTES) return readFileSync(file, 'utf8');
      } finally {
        closeSync(file);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      const reason = code === 'ELOOP' ? 'it is a link' : (code ?? String(error));
      throw new GroupRefused(`groups/${folder}/${FILE} cannot be read: ${reason}.`);
    }
    throw new GroupRefused(`groups/${folder}/${FILE} is not a file of at most 1 MB.`);
  }

  /** A file that is gone is a memory that was emptied. */
  function noted(folder: string, read: string | null, author: MemoryAuthor): MemoryVersion | null {
    const known = newest(folder);
    if (read === null && known === null) return null;
    const text = read ?? '';
    if (known?.text === text) return known;
    return memoryVersions.add(folder, { text, author, at: now() });
  }

  return {
    read: async (folder) => noted(folder, textOf(folder), 'file'),
    note(folder, author) {
      try {
        noted(folder, textOf(folder), author);
      } catch {
        // A memory that cannot be read has no new version; whoever looks at it is told why.
      }
    },
    last: memoryVersions.last,
    version(folder, seq) {
      const version = memoryVersions.upTo(folder, seq);
      if (version?.seq !== seq) return null;
      return { version, before: memoryVersions.upTo(folder, seq - 1) };
    },
    async write(folder, text, from) {
      if (Buffer.byteLength(text) > MAX_BYTES) throw new GroupRefused('It would have over 1 MB.');
      const { written, current } = await inFolderBeneath(groups, [folder], (place) => {
        const fresh = join(place, `.memory-${randomUUID()}`);
        writeAsOwnerOf(place, fresh, text);
        try {
          const before = noted(folder, textOf(folder), 'file');
          if ((before?.seq ?? 0) !== from) return { written: false, current: before };
          // Nothing waits between here and the look: only an agent's own write in this instant could be hidden by
          // ours, and the version before it is kept.
          renameSync(fresh, join(place, FILE));
          return { written: true, current: before };
        } finally {
          rmSync(fresh, { force: true });
        }
      }).catch((error: unknown) => {
        if (error instanceof GroupRefused) throw error;
        const { code } = error as NodeJS.ErrnoException;
        throw new GroupRefused(
          `groups/${folder}/${FILE} cannot be written: ${code ?? String(error)}.`,
        );
      });
      if (!written && current !== null) return { kind: 'outdated', now: current };
      if (!written) throw new GroupRefused(`groups/${folder} has no version ${from}.`);
      const version = noted(folder, text, 'owner');
      if (version === null) throw new Error('a memory that was written has no version');
      return { kind: 'written', version };
    },
  };
}

/**
 * Writes as the folder's owner. If the host is root, the agent is another user, who owns the folder and must be able
 * to go on writing the file.
 */
function writeAsOwnerOf(folder: string, path: string, text: string): void {
  const file = openSync(path, 'wx', 0o666);
  try {
    writeFileSync(file, text);
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(folder);
    fchownSync(file, uid, gid);
  } finally {
    closeSync(file);
  }
}

import { createHash, randomBytes } from 'node:crypto';
import { type BigIntStats, constants, type Dirent, lstatSync, readdirSync } from 'node:fs';
import { lchown, mkdir, open, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { inFolderBeneath, openBeneath } from '../../lib/open-beneath.ts';
import type { AgentUser } from '../mounts/ownership.ts';

/** The most files of one mount, and the largest one that goes to another machine. */
export const MAX_TREE_FILES = 100_000;
export const MAX_FILE_BYTES = 67_108_864;

const MAX_PATH_CHARS = 1_024;

/** The SHA-256 of a file's bytes, in hexadecimal. */
export const Digest = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * One file or link of a tree. Folders are there with their files. What is unreadable, larger than allowed or no plain file
 * is opaque: it is there, so the other side must not take it for deleted, and its content stays where it is.
 */
export const TreeEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), digest: Digest, isExecutable: z.boolean() }),
  z.strictObject({ kind: z.literal('link'), to: z.string().max(4_096) }),
  z.strictObject({ kind: z.literal('opaque') }),
]);
export type TreeEntry = z.output<typeof TreeEntry>;

/** A path below a mount, or the empty one where the mount is a file. Nothing in it leads out. */
export const TreePath = z
  .string()
  .max(MAX_PATH_CHARS)
  .refine((path) => path === '' || path.split('/').every(isName), 'must stay inside');

/** The files of a mount by their paths. */
export type Tree = ReadonlyMap<string, TreeEntry>;

/** A tree as it is sent and kept. */
export const TreeList = z.array(z.tuple([TreePath, TreeEntry])).max(MAX_TREE_FILES);

/**
 * A tree that can be laid out in an empty place: nothing in it is below a file or a link, which would lead out of the
 * place, and what is the place itself is a plain file.
 */
export const NewTree = TreeList.refine(isOneFolder, 'must be files of one folder');

function isOneFolder(list: z.output<typeof TreeList>): boolean {
  const entries = new Map(list);
  const itself = entries.get('');
  if (itself !== undefined) return itself.kind === 'file' && entries.size === 1;
  return list.every(([path]) => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (entries.has(path.slice(0, at))) return false;
    }
    return true;
  });
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('\0');
}

export function isSameEntry(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind === 'link') return other.kind === 'link' && one.to === other.to;
  if (one.kind === 'opaque') return other.kind === 'opaque';
  return (
    other.kind === 'file' && one.digest === other.digest && one.isExecutable === other.isExecutable
  );
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Digests by what the system knows of a file, so that an unchanged one is not read again. One that was written just
 * before it was read is read once more: a second write within the same tick of the clock would leave the same stamp.
 */
type Known = {
  readonly stamp: string;
  readonly sizeBytes: number;
  readonly digest: string;
  readonly isSettled: boolean;
};

/** Longer than a tick of any file system's clock here. */
const TICK_MS = 100n;
const MAX_TOLD = 100;
/** Looked at without a promise, which costs several times as much as the look; so many before others have their turn. */
const AT_A_TIME = 200;

/** Written beside the file that it becomes, and never part of a tree. */
const TEMPORARY = /^\.claw-far-[0-9a-f]{12}$/;

/** A change of one path: the entry that it gets, or null for its end, where it still is as expected. */
export type TreeChange = {
  readonly path: string;
  readonly expected: TreeEntry | null;
  readonly wanted: TreeEntry | null;
};

/** A folder, or a single file, whose content is compared with that of another machine. */
export class FileTree {
  readonly #root: string;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  #leftOut: string[] = [];
  #held = { files: 0, bytes: 0 };

  /** @param now the clock by which files here are stamped, in milliseconds */
  constructor(root: string, now: () => number) {
    this.#root = root;
    this.#now = now;
  }

  /** Paths of the last look whose content stays where it is, the first hundred of them. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  /** What the files of the last look come to. */
  get held(): { readonly files: number; readonly bytes: number } {
    return this.#held;
  }

  /** The size of a plain file of the last look; 0 for any other. */
  sizeOf(path: string): number {
    return this.#known.get(path)?.sizeBytes ?? 0;
  }

  /**
   * Looks at all files. Names that no message can hold are left out.
   *
   * @throws Error where the folder is not there or cannot be read, or holds more than allowed: a part that is not seen
   * must not be taken for deleted
   */
  async scan(): Promise<Tree> {
    const tree = new Map<string, TreeEntry>();
    const leftOut: string[] = [];
    if (!lstatSync(this.#root).isDirectory()) {
      const entry = await this.#entryOf('');
      if (entry !== null) tree.set('', entry);
      return tree;
    }
    const waiting = [''];
    let looked = 0;
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      for (const one of entriesOf(join(this.#root, folder), folder === '')) {
        looked += 1;
        if (looked % AT_A_TIME === 0) await setImmediate();
        const path = folder === '' ? one.name : `${folder}/${one.name}`;
        if (TEMPORARY.test(one.name)) continue;
        if (one.isDirectory()) waiting.push(path);
        else if (!isSendable(path)) leftOut.push(path);
        else {
          if (tree.size >= MAX_TREE_FILES) throw new Error(`more than ${MAX_TREE_FILES} files`);
          const entry = this.#knownEntryOf(path) ?? (await this.#entryOf(path));
          if (entry !== null) tree.set(path, entry);
          if (entry?.kind === 'opaque') leftOut.push(path);
        }
      }
    }
    this.#leftOut = leftOut.slice(0, MAX_TOLD);
    let bytes = 0;
    for (const [path, { kind }] of tree) if (kind === 'file') bytes += this.sizeOf(path);
    this.#held = { files: tree.size, bytes };
    return tree;
  }

  /** Tells what a file holds that was put here just now and that nobody can have written to since. */
  know(path: string, digest: string): void {
    const found = this.#look(path);
    if (found !== null)
      this.#known.set(path, {
        stamp: stampOf(found),
        sizeBytes: Number(found.size),
        digest,
        isSettled: true,
      });
  }

  /** Returns the bytes of the file that has this digest; null where it is another one by now, or longer. */
  async read(path: string, digest: string, maxBytes = MAX_FILE_BYTES): Promise<Buffer | null> {
    const file = await this.#open(path).catch(() => null);
    if (file === null) return null;
    try {
      const { size } = await file.stat();
      if (size > maxBytes) return null;
      const bytes = await file.readFile();
      return digestOf(bytes) === digest ? bytes : null;
    } finally {
      await file.close();
    }
  }

  /**
   * Changes one path, through no link, if it is still as expected.
   *
   * @param bytes those of a wanted file
   * @returns false where somebody changed it meanwhile, or something is in the way
   */
  async change(
    { path, expected, wanted }: TreeChange,
    bytes: Buffer | null,
    user: AgentUser | null,
  ): Promise<boolean> {
    const names = path.split('/');
    const name = names.pop() ?? '';
    if (wanted?.kind === 'opaque') return false;
    if (path === '' || !TreePath.safeParse(path).success) return false;
    try {
      if (wanted !== null && expected === null) await this.#makeFolders(names, user);
      return await this.#inFolder(names, async (folder) => {
        const now = (await this.#entryOf(path)) ?? undefined;
        if (!isSameEntry(now, expected ?? undefined)) return false;
        if (wanted === null) await rm(join(folder, name), { force: true });
        else await put(join(folder, name), wanted, bytes, user);
        return true;
      });
    } catch {
      // A file where a folder is wanted, or the other way round: told as not done, and seen again the next time.
      return wanted === null && (await this.#entryOf(path)) === null;
    }
  }

  #look(path: string): BigIntStats | null {
    try {
      return lstatSync(path === '' ? this.#root : join(this.#root, path), { bigint: true });
    } catch {
      // It is gone, or its name is too long to be asked for.
      return null;
    }
  }

  /** The entry of a plain file that has not changed; null where more has to be done to know it. */
  #knownEntryOf(path: string): TreeEntry | null {
    const known = this.#known.get(path);
    if (known?.isSettled !== true) return null;
    const found = this.#look(path);
    if (found?.isFile() !== true || stampOf(found) !== known.stamp) return null;
    return { kind: 'file', digest: known.digest, isExecutable: isExecutable(found) };
  }

  async #entryOf(path: string): Promise<TreeEntry | null> {
    const found = this.#look(path);
    if (found === null || found.isDirectory()) return null;
    if (found.isSymbolicLink()) {
      const full = path === '' ? this.#root : join(this.#root, path);
      const to = await readlink(full).catch(() => null);
      return to === null ? null : { kind: 'link', to };
    }
    if (!found.isFile() || found.size > BigInt(MAX_FILE_BYTES)) return OPAQUE;
    const stamp = stampOf(found);
    const known = this.#known.get(path);
    if (known?.isSettled === true && known.stamp === stamp) {
      return { kind: 'file', digest: known.digest, isExecutable: isExecutable(found) };
    }
    const isSettled = BigInt(Math.floor(this.#now())) - found.ctimeMs > TICK_MS;
    const digest = await this.#digest(path);
    if (digest === null) return this.#look(path) === null ? null : OPAQUE;
    this.#known.set(path, { stamp, sizeBytes: Number(found.size), digest, isSettled });
    return { kind: 'file', digest, isExecutable: isExecutable(found) };
  }

  async #digest(path: string): Promise<string | null> {
    const file = await this.#open(path).catch(() => null);
    if (file === null) return null;
    try {
      const hash = createHash('sha256');
      for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk);
      return hash.digest('hex');
    } finally {
      await file.close();
    }
  }

  #open(path: string) {
    if (path !== '') return openBeneath(this.#root, path.split('/'));
    return open(this.#root, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  }

  #inFolder<T>(names: readonly string[], use: (path: string) => Promise<T>): Promise<T> {
    return names.length === 0 ? use(this.#root) : inFolderBeneath(this.#root, names, use);
  }

  async #makeFolders(names: readonly string[], user: AgentUser | null): Promise<void> {
    await mkdir(this.#root, { recursive: true });
    for (const [index, name] of names.entries()) {
      await this.#inFolder(names.slice(0, index), async (folder) => {
        const made = join(folder, name);
        const isNew = await mkdir(made).then(
          () => true,
          (error: NodeJS.ErrnoException) => {
            if (error.code !== 'EEXIST') throw error;
            return false;
          },
        );
        if (isNew && user !== null) await lchown(made, user.uid, user.gid);
      });
    }
  }
}

const OPAQUE: TreeEntry = { kind: 'opaque' };

function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino},${size},${mtimeNs},${ctimeNs}`;
}

function isExecutable({ mode }: BigIntStats): boolean {
  return (mode & 0o100n) !== 0n;
}

/** As `TreePath`, without the cost of a schema for each file. A name that is no UTF-8 cannot be asked for again. */
function isSendable(path: string): boolean {
  return path.length <= MAX_PATH_CHARS && !path.includes('\uFFFD');
}

/** A folder that was deleted meanwhile has no entries; the root must be there. */
function entriesOf(folder: string, isRoot: boolean): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (!isRoot && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Puts an entry in the place of whatever is there, whole or not at all. */
async function put(
  path: string,
  entry: TreeEntry,
  bytes: Buffer | null,
  user: AgentUser | null,
): Promise<void> {
  const temporary = join(path, '..', `.claw-far-${randomBytes(6).toString('hex')}`);
  try {
    if (entry.kind === 'link') await symlink(entry.to, temporary);
    else if (entry.kind === 'file') {
      const mode = entry.isExecutable ? 0o755 : 0o644;
      const file = await open(temporary, 'wx', mode);
      await file
        .writeFile(bytes ?? Buffer.alloc(0))
        .then(() => file.chmod(mode))
        .finally(() => file.close());
    }
    if (user !== null) await lchown(temporary, user.uid, user.gid);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

import { createHash, randomBytes } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import {
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { inFolderBeneath, openBeneath } from '../../lib/open-beneath.ts';
import type { AgentUser } from '../mounts/ownership.ts';

/** The most files of one mount, and the largest one that goes to another machine. */
export const MAX_TREE_FILES = 100_000;
export const MAX_FILE_BYTES = 67_108_864;

const MAX_PATH_CHARS = 1_024;

/** The SHA-256 of a file's bytes, in hexadecimal. */
export const Digest = z.string().regex(/^[0-9a-f]{64}$/);

/** One file or link of a tree. Folders are there with their files. */
export const TreeEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), digest: Digest, isExecutable: z.boolean() }),
  z.strictObject({ kind: z.literal('link'), to: z.string().max(4_096) }),
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

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('\0');
}

export function isSameEntry(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind === 'link') return other.kind === 'link' && one.to === other.to;
  return (
    other.kind === 'file' && one.digest === other.digest && one.isExecutable === other.isExecutable
  );
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Digests by what the system knows of a file, so that an unchanged one is not read again. */
type Known = { readonly stamp: string; readonly digest: string };

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
  readonly #known = new Map<string, Known>();
  /** Paths that cannot be sent: larger than allowed, or names that are no UTF-8. */
  readonly leftOut = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Looks at all files. What is neither file, folder nor link is passed over. */
  async scan(): Promise<Tree> {
    const tree = new Map<string, TreeEntry>();
    this.leftOut.clear();
    const root = await lstat(this.#root).catch(() => null);
    if (root?.isFile()) {
      const entry = await this.#entryOf('');
      if (entry !== null) tree.set('', entry);
      return tree;
    }
    if (root?.isDirectory() !== true) return tree;
    const waiting = [''];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const found: Dirent[] = await readdir(join(this.#root, folder), {
        withFileTypes: true,
      }).catch(() => []);
      for (const one of found) {
        const path = folder === '' ? one.name : `${folder}/${one.name}`;
        if (TEMPORARY.test(one.name)) continue;
        if (one.isDirectory()) waiting.push(path);
        else if (tree.size >= MAX_TREE_FILES || !TreePath.safeParse(path).success) {
          this.leftOut.add(path);
        } else {
          const entry = await this.#entryOf(path);
          if (entry !== null) tree.set(path, entry);
        }
      }
    }
    return tree;
  }

  /** Returns the bytes of the file that has this digest; null where it is another one by now. */
  async read(path: string, digest: string): Promise<Buffer | null> {
    const file = await this.#open(path).catch(() => null);
    if (file === null) return null;
    try {
      const { size } = await file.stat();
      if (size > MAX_FILE_BYTES) return null;
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
    if (path === '' || !TreePath.safeParse(path).success) return false;
    try {
      if (wanted !== null) await this.#makeFolders(names, user);
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

  async #entryOf(path: string): Promise<TreeEntry | null> {
    const full = path === '' ? this.#root : join(this.#root, path);
    const found = await lstat(full, { bigint: true }).catch(() => null);
    if (found === null) return null;
    if (found.isSymbolicLink()) {
      const to = await readlink(full).catch(() => null);
      return to === null ? null : { kind: 'link', to };
    }
    if (!found.isFile()) return null;
    if (found.size > BigInt(MAX_FILE_BYTES)) {
      this.leftOut.add(path);
      return null;
    }
    const stamp = [found.ino, found.size, found.mtimeNs, found.ctimeNs].join();
    const known = this.#known.get(path);
    const digest = known?.stamp === stamp ? known.digest : await this.#digest(path);
    if (digest === null) return null;
    this.#known.set(path, { stamp, digest });
    return { kind: 'file', digest, isExecutable: (found.mode & 0o100n) !== 0n };
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
    else {
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

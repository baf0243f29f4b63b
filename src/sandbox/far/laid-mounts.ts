import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  symlinkSync,
} from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type AgentUser, giveFolder } from '../mounts/ownership.ts';
import { FileTree, type Tree, type TreeEntry } from './file-tree.ts';

/** Kept contents beyond this go, the oldest first, when a worker starts. */
const MAX_KEPT_BYTES = 2 * 1_073_741_824;

/** A mount of a chat here. */
export type LaidMount = {
  readonly target: string;
  readonly isWritable: boolean;
  readonly path: string;
  readonly tree: FileTree;
  /** Its files as the home was told of them last. */
  files: Tree;
};

const MountList = z.array(z.object({ target: z.string(), isWritable: z.boolean() }));

/** The mounts of an earlier container of this chat, in the order in which they were laid. */
export async function keptMounts(place: string, now: () => number): Promise<readonly LaidMount[]> {
  const text = await readFile(join(place, 'mounts.json'), 'utf8').catch(() => '[]');
  const kept = MountList.parse(JSON.parse(text)).map((mount, index) => {
    const path = join(place, String(index));
    return { ...mount, path, tree: new FileTree(path, now), files: new Map() };
  });
  // A container that did not come up may have some of them only.
  return kept.filter(({ path }) => existsSync(path));
}

/** Returns the digests of contents that are not here. */
export async function lacking(contents: string, places: readonly LaidMount[]): Promise<string[]> {
  const wanted = new Set<string>();
  for (const { files } of places) {
    for (const entry of files.values()) if (entry.kind === 'file') wanted.add(entry.digest);
  }
  const kept = new Set(await readdir(contents));
  return [...wanted].filter((digest) => !kept.has(digest));
}

/** Keeps contents under their digest. */
export async function keep(contents: string, digest: string, bytes: Buffer): Promise<void> {
  const path = join(contents, digest);
  // Several chats may bring the same contents at once.
  const unfinished = `${path}.${randomUUID()}`;
  await writeFile(unfinished, bytes, { mode: 0o644 });
  await rename(unfinished, path);
}

/** Files that are laid out before links are served again. */
const AT_A_TIME = 100;

/**
 * Puts the files of a mount where the container will see them. Those that it can only read are the kept contents
 * themselves. Returns the paths whose contents are missing.
 */
export async function layOut(
  contents: string,
  { path, isWritable, tree, files }: LaidMount,
  user: AgentUser,
): Promise<readonly string[]> {
  const missing: string[] = [];
  const made = new Set<string>();
  if (!files.has('')) mkdirSync(path, { recursive: true });
  let count = 0;
  for (const [name, entry] of files) {
    count += 1;
    if (count % AT_A_TIME === 0) await setImmediate();
    const to = name === '' ? path : join(path, name);
    const parent = dirname(to);
    if (name !== '' && !made.has(parent)) {
      mkdirSync(parent, { recursive: true });
      made.add(parent);
    }
    if (!put(contents, { to, entry, isWritable })) missing.push(name);
  }
  if (!isWritable) return missing;
  await giveFolder(path, user);
  // Nothing runs yet, so the contents are known without being read.
  for (const [name, entry] of files) if (entry.kind === 'file') tree.know(name, entry.digest);
  return missing;
}

/** Returns false where there are no such contents. */
function put(
  contents: string,
  { to, entry, isWritable }: { to: string; entry: TreeEntry; isWritable: boolean },
): boolean {
  if (entry.kind === 'opaque') return false;
  if (entry.kind === 'link') {
    symlinkSync(entry.to, to);
    return true;
  }
  const from = join(contents, entry.digest);
  try {
    if (!isWritable && !entry.isExecutable) linkSync(from, to);
    else copyFileSync(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  if (entry.isExecutable) chmodSync(to, 0o755);
  return true;
}

/** Removes the contents that were used longest ago. */
export async function dropOldContents(contents: string): Promise<void> {
  const found = await Promise.all(
    (await readdir(contents)).map(async (name) => {
      const { size, atimeMs } = await stat(join(contents, name));
      return { name, size, atimeMs };
    }),
  );
  let keptBytes = 0;
  for (const { name, size } of found.toSorted((one, other) => other.atimeMs - one.atimeMs)) {
    keptBytes += size;
    if (keptBytes > MAX_KEPT_BYTES || name.includes('.')) await rm(join(contents, name));
  }
}

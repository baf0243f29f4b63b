import type { AgentUser } from '../mounts/ownership.ts';
import { MAX_CHANGES } from './control-channel.ts';
import {
  digestOf,
  type FileTree,
  isSameEntry,
  MAX_FILE_BYTES,
  type Tree,
  type TreeChange,
  type TreeEntry,
} from './file-tree.ts';
import { mergeFile, pathBeside, planSync, type SyncStep } from './merge-files.ts';

/** A mount of a chat whose files are on two machines. */
export type SharedMount = {
  /** The path inside the container, which names it on both sides. */
  readonly target: string;
  readonly source: string;
  readonly isWritable: boolean;
};

/** The files of a chat on the other machine. */
export type FarFiles = {
  /** Asks for the files of the mounts that are written there, by their targets. */
  look(): Promise<ReadonlyMap<string, Tree>>;
  /** The same as when they were looked at last, and all others; nothing is asked. */
  known(): ReadonlyMap<string, Tree>;
  /** Returns the bytes of a digest; null where they are not there any more. */
  read(digest: string): Promise<Buffer | null>;
  /** Makes changes where the files are still as expected. Returns of each whether it was made. */
  change(
    target: string,
    changes: readonly TreeChange[],
    bytes: readonly (Buffer | null)[],
  ): Promise<readonly boolean[]>;
};

/**
 * Which side goes on. The one that does is given what the other one wrote: before its turn the agent gets the home's
 * files, and afterwards the home takes the agent's. The other direction waits: nobody needs it yet.
 */
export type SyncWay = 'give' | 'take';

/** The files on which both sides last agreed, by the target of a writable mount. Their owner keeps them on disk. */
export type AgreedFiles = {
  load(): ReadonlyMap<string, Tree>;
  save(trees: ReadonlyMap<string, Tree>): void;
};

/** Two versions of a file that do not go together. The home's stays, and the other is beside it. */
export type FileConflict = {
  readonly path: string;
  readonly beside: string;
  /** The places in dispute between markers; null for what is not text. */
  readonly shown: string | null;
};

/** How much the folders of a chat may hold at home with what another machine adds. */
export type FilesLimit = {
  readonly bytes: number;
  readonly files: number;
  /** The settings by which the owner changes it. */
  readonly settings: string;
};

export type ChatFilesParts = {
  readonly machine: string;
  readonly mounts: readonly SharedMount[];
  readonly agreed: AgreedFiles;
  readonly user: AgentUser | null;
  readonly limit: Pick<FilesLimit, 'bytes' | 'files'>;
  readonly onConflict: (conflict: FileConflict) => void;
  /** A file of the other side has no room here, and stays there. */
  readonly onRefused: (path: string) => void;
  /** Remembers what files hold from one container to the next. */
  readonly treeOf: (source: string) => FileTree;
};

/**
 * The files of a chat whose agent runs elsewhere. The home decides: it compares both sides with what they last agreed
 * on, sends and takes what one side wrote, and merges what both wrote.
 */
export class ChatFiles {
  readonly #parts: ChatFilesParts;
  readonly #trees: ReadonlyMap<string, FileTree>;
  #agreed: Map<string, Tree>;
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ChatFilesParts) {
    this.#parts = parts;
    this.#trees = new Map(parts.mounts.map(({ target, source }) => [target, parts.treeOf(source)]));
    this.#agreed = new Map(parts.agreed.load());
  }

  /** Looks at the home's files, mount by mount. */
  async homeTrees(): Promise<readonly (SharedMount & { readonly tree: Tree })[]> {
    const found: (SharedMount & { tree: Tree })[] = [];
    for (const mount of this.#parts.mounts) {
      found.push({ ...mount, tree: await this.#scanHome(mount) });
    }
    return found;
  }

  /** What the agent only reads may go while it runs; what it writes must be seen. */
  async #scanHome({ target, isWritable }: SharedMount): Promise<Tree> {
    const scanned = this.#trees.get(target)?.scan() ?? Promise.resolve(new Map());
    return await (isWritable ? scanned : scanned.catch(() => new Map()));
  }

  /** Notes that the other side was given exactly these files. */
  agree(trees: readonly { readonly target: string; readonly tree: Tree }[]): void {
    this.#agreed = new Map(trees.map(({ target, tree }) => [target, tree]));
    this.#save();
  }

  /** Returns the bytes of a file at home; null where it is another one by now. */
  async readHome(target: string, path: string, digest: string): Promise<Buffer | null> {
    return (await this.#trees.get(target)?.read(path, digest)) ?? null;
  }

  /** Resolves when no comparison is at work. */
  get settled(): Promise<void> {
    return this.#last;
  }

  /** Brings both sides together, one call after the other. */
  sync(far: FarFiles, way: SyncWay): Promise<void> {
    const synced = this.#last.then(async () => {
      const there = way === 'take' ? await far.look() : far.known();
      for (const mount of this.#parts.mounts) {
        const files = there.get(mount.target);
        if (files !== undefined) await this.#syncMount(mount, { far, files, way });
      }
    });
    this.#last = synced.catch(() => {});
    return synced;
  }

  async #syncMount(
    mount: SharedMount,
    { far, files: there, way }: { far: FarFiles; files: Tree; way: SyncWay },
  ): Promise<void> {
    const { target, isWritable } = mount;
    const tree = this.#trees.get(target);
    if (tree === undefined || (way === 'take' && !isWritable)) return;
    const home = await this.#scanHome(mount);
    const base = this.#agreed.get(target) ?? new Map<string, TreeEntry>();
    // A mount that is one file stays the one that it was when the container began, as at home.
    const steps = planSync(base, home, there).filter(({ path }) => path !== '');
    const agreed = agreedSoFar(base, home, there, steps);
    const sends: Change[] = [];
    const room = this.#room();
    for (const step of steps) {
      if (step.kind === 'send') sends.push({ ...sent(step.path, home, there), tree });
      else if (!isWritable) continue;
      else
        sends.push(
          ...(await this.#takeOrMerge(step, { tree, home, there, base, agreed, far, room })),
        );
    }
    if (way === 'give') await this.#send(target, sends, far, agreed);
    this.#agreed.set(target, agreed);
    if (isWritable && steps.length > 0) this.#save();
  }

  /** Returns how much the other side may still add. */
  #room(): Room {
    const { mounts, limit } = this.#parts;
    let { bytes, files } = limit;
    for (const { target, isWritable } of mounts) {
      const held = isWritable ? this.#trees.get(target)?.held : undefined;
      bytes -= held?.bytes ?? 0;
      files -= held?.files ?? 0;
    }
    return { bytes, files, wastedBytes: 0 };
  }

  /** Whether a file of the other side may be asked for at all: one that has no room was fetched for nothing. */
  #isAskedFor(path: string, isNew: boolean, room: Room): boolean {
    const isAsked = room.wastedBytes < MAX_WASTED_BYTES && (!isNew || room.files > 0);
    if (!isAsked) this.#parts.onRefused(path);
    return isAsked;
  }

  /** Takes the room for a file; false where there is none. What does not grow is always taken. */
  #takeRoom(path: string, sizes: { before: number | null; after: number }, room: Room): boolean {
    const growth = sizes.after - (sizes.before ?? 0);
    if (growth > 0 && growth > room.bytes) {
      room.wastedBytes += sizes.after;
      this.#parts.onRefused(path);
      return false;
    }
    room.bytes -= growth;
    if (sizes.before === null) room.files -= 1;
    return true;
  }

  /** Returns what the other side is to be given after it. */
  async #takeOrMerge(step: SyncStep, at: MountSync): Promise<readonly Change[]> {
    const { path } = step;
    const { tree, home, there, agreed, far, room } = at;
    const here = home.get(path) ?? null;
    const theirs = there.get(path) ?? null;
    if (step.kind !== 'merge') {
      if (theirs !== null && !this.#isAskedFor(path, here === null, room)) return [];
      const bytes = theirs?.kind === 'file' ? await verified(far, theirs.digest) : null;
      if (theirs?.kind === 'file' && bytes === null) return [];
      const before = here === null ? null : tree.sizeOf(path);
      const sizes = { before, after: bytes?.length ?? 0 };
      if (theirs !== null && !this.#takeRoom(path, sizes, room)) return [];
      const { user } = this.#parts;
      if (await tree.change({ path, expected: here, wanted: theirs }, bytes, user)) {
        setOrDelete(agreed, path, theirs);
      }
      return [];
    }
    return here?.kind === 'file' && theirs?.kind === 'file'
      ? await this.#merge(path, { here, theirs }, at)
      : [];
  }

  async #merge(
    path: string,
    { here, theirs }: { here: FileEntry; theirs: FileEntry },
    { tree, home, there, base, agreed, far, room }: MountSync,
  ): Promise<readonly Change[]> {
    const { machine, user, onConflict } = this.#parts;
    if (!this.#isAskedFor(path, true, room)) return [];
    const was = base.get(path);
    const ours = await tree.read(path, here.digest);
    const other = await verified(far, theirs.digest);
    // One of them has changed again: the next time.
    if (ours === null || other === null) return [];
    const old = was?.kind === 'file' ? await verified(far, was.digest) : null;
    const merged = await mergeFile(path, old, { home: ours, far: other });
    if (merged.kind === 'merged') {
      const sizes = { before: ours.length, after: merged.bytes.length };
      if (!this.#takeRoom(path, sizes, room)) return [];
      const wanted: FileEntry = { ...here, digest: digestOf(merged.bytes) };
      if (!(await tree.change({ path, expected: here, wanted }, merged.bytes, user))) return [];
      agreed.set(path, theirs);
      return [{ path, expected: theirs, wanted, bytes: merged.bytes }];
    }
    if (!this.#takeRoom(path, { before: null, after: other.length }, room)) return [];
    const beside = pathBeside(path, machine, (one) => home.has(one) || there.has(one));
    if (!(await tree.change({ path: beside, expected: null, wanted: theirs }, other, user)))
      return [];
    agreed.set(path, theirs);
    onConflict({ path, beside, shown: merged.shown });
    return [
      { path: beside, expected: null, wanted: theirs, bytes: other },
      { path, expected: theirs, wanted: here, bytes: ours },
    ];
  }

  async #send(
    target: string,
    changes: readonly Change[],
    far: FarFiles,
    agreed: Map<string, TreeEntry>,
  ): Promise<void> {
    for (let at = 0; at < changes.length; at += MAX_CHANGES) {
      const some = changes.slice(at, at + MAX_CHANGES);
      const bytes = await Promise.all(some.map(bytesOf));
      // A file that has changed since it was looked at goes the next time.
      const ready = some.flatMap((change, index) => {
        const own = bytes[index] ?? null;
        return change.wanted?.kind === 'file' && own === null ? [] : [{ change, own }];
      });
      const done = await far.change(
        target,
        ready.map(({ change: { path, expected, wanted } }) => ({ path, expected, wanted })),
        ready.map(({ own }) => own),
      );
      for (const [index, { change }] of ready.entries()) {
        if (done[index] === true) setOrDelete(agreed, change.path, change.wanted);
      }
    }
  }

  #save(): void {
    const written = this.#parts.mounts.flatMap(({ target, isWritable }): [string, Tree][] => {
      const tree = this.#agreed.get(target);
      return isWritable && tree !== undefined ? [[target, tree]] : [];
    });
    this.#parts.agreed.save(new Map(written));
  }
}

type FileEntry = Extract<TreeEntry, { kind: 'file' }>;

/** A change for the other side; the bytes are read from the home's tree where they are not here. */
type Change = TreeChange & { readonly tree?: FileTree; readonly bytes?: Buffer };

/** The amount that may still be added, and the bytes that were fetched and then refused. */
type Room = { bytes: number; files: number; wastedBytes: number };

/** So much is fetched in vain, in one comparison. */
const MAX_WASTED_BYTES = 4 * MAX_FILE_BYTES;

type MountSync = {
  readonly tree: FileTree;
  readonly home: Tree;
  readonly there: Tree;
  readonly base: Tree;
  readonly agreed: Map<string, TreeEntry>;
  readonly far: FarFiles;
  readonly room: Room;
};

function sent(path: string, home: Tree, there: Tree): TreeChange {
  return { path, expected: there.get(path) ?? null, wanted: home.get(path) ?? null };
}

async function bytesOf({ path, wanted, tree, bytes }: Change): Promise<Buffer | null> {
  if (wanted?.kind !== 'file') return null;
  return bytes ?? (await tree?.read(path, wanted.digest)) ?? null;
}

/** Returns bytes only if they are those that the digest names, whatever the other side sent. */
async function verified(far: FarFiles, digest: string): Promise<Buffer | null> {
  const bytes = await far.read(digest);
  return bytes !== null && digestOf(bytes) === digest ? bytes : null;
}

/** The files that need no step are agreed on; of the others, what was agreed before. */
function agreedSoFar(
  base: Tree,
  home: Tree,
  there: Tree,
  steps: readonly SyncStep[],
): Map<string, TreeEntry> {
  const open = new Set(steps.map(({ path }) => path));
  const agreed = new Map<string, TreeEntry>();
  for (const [path, entry] of base) if (open.has(path)) agreed.set(path, entry);
  for (const [path, entry] of home) {
    if (!open.has(path) && isSameEntry(entry, there.get(path))) agreed.set(path, entry);
  }
  return agreed;
}

function setOrDelete(tree: Map<string, TreeEntry>, path: string, entry: TreeEntry | null): void {
  if (entry === null) tree.delete(path);
  else tree.set(path, entry);
}

import type { AgentUser } from '../mounts/ownership.ts';
import { MAX_CHANGES } from './control-channel.ts';
import {
  digestOf,
  FileTree,
  isSameEntry,
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
  /** Returns the files of a mount by its target; null for one that it does not have. */
  scan(target: string): Promise<Tree | null>;
  /** Returns the bytes of a digest; null where they are not there any more. */
  read(digest: string): Promise<Buffer | null>;
  /** Makes changes where the files are still as expected. Returns of each whether it was made. */
  change(
    target: string,
    changes: readonly TreeChange[],
    bytes: readonly (Buffer | null)[],
  ): Promise<readonly boolean[]>;
};

/** What both sides had when they last agreed, by the target of the mount. Kept on disk by its owner. */
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

export type ChatFilesParts = {
  readonly machine: string;
  readonly mounts: readonly SharedMount[];
  readonly agreed: AgreedFiles;
  readonly user: AgentUser | null;
  readonly onConflict: (conflict: FileConflict) => void;
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
    this.#trees = new Map(parts.mounts.map(({ target, source }) => [target, new FileTree(source)]));
    this.#agreed = new Map(parts.agreed.load());
  }

  /** Looks at the home's files, mount by mount. */
  async homeTrees(): Promise<readonly (SharedMount & { readonly tree: Tree })[]> {
    const found: (SharedMount & { tree: Tree })[] = [];
    for (const mount of this.#parts.mounts) {
      const tree = (await this.#trees.get(mount.target)?.scan()) ?? new Map();
      found.push({ ...mount, tree });
    }
    return found;
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

  /** Brings both sides together, one call after the other. @param isTakeOnly the other side is given nothing: it ends */
  sync(far: FarFiles, { isTakeOnly = false } = {}): Promise<void> {
    const synced = this.#last.then(async () => {
      for (const mount of this.#parts.mounts) await this.#syncMount(mount, far, isTakeOnly);
    });
    this.#last = synced.catch(() => {});
    return synced;
  }

  async #syncMount(mount: SharedMount, far: FarFiles, isTakeOnly: boolean): Promise<void> {
    const { target, isWritable } = mount;
    const tree = this.#trees.get(target);
    if (tree === undefined || (isTakeOnly && !isWritable)) return;
    const there = isWritable ? await far.scan(target) : (this.#agreed.get(target) ?? new Map());
    if (there === null) return;
    const home = await tree.scan();
    const base = this.#agreed.get(target) ?? new Map<string, TreeEntry>();
    const steps = planSync(base, home, there);
    const agreed = agreedSoFar(base, home, there, steps);
    const sends: Change[] = [];
    for (const step of steps) {
      if (step.kind === 'send') sends.push({ ...sent(step.path, home, there), tree });
      else if (!isWritable) continue;
      else sends.push(...(await this.#takeOrMerge(step, { tree, home, there, base, agreed, far })));
    }
    if (!isTakeOnly) await this.#send(target, sends, far, agreed);
    this.#agreed.set(target, agreed);
    if (steps.length > 0) this.#save();
  }

  /** Returns what the other side is to be given after it. */
  async #takeOrMerge(step: SyncStep, at: MountSync): Promise<readonly Change[]> {
    const { path } = step;
    const { tree, home, there, agreed, far } = at;
    const here = home.get(path) ?? null;
    const theirs = there.get(path) ?? null;
    if (step.kind !== 'merge') {
      const bytes = theirs?.kind === 'file' ? await verified(far, theirs.digest) : null;
      if (theirs?.kind === 'file' && bytes === null) return [];
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
    { tree, home, there, base, agreed, far }: MountSync,
  ): Promise<readonly Change[]> {
    const { machine, user, onConflict } = this.#parts;
    const was = base.get(path);
    const ours = await tree.read(path, here.digest);
    const other = await verified(far, theirs.digest);
    // One of them has changed again: the next time.
    if (ours === null || other === null) return [];
    const old = was?.kind === 'file' ? await verified(far, was.digest) : null;
    const merged = await mergeFile(path, old, { home: ours, far: other });
    if (merged.kind === 'merged') {
      const wanted: FileEntry = { ...here, digest: digestOf(merged.bytes) };
      if (!(await tree.change({ path, expected: here, wanted }, merged.bytes, user))) return [];
      agreed.set(path, theirs);
      return [{ path, expected: theirs, wanted, bytes: merged.bytes }];
    }
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
    this.#parts.agreed.save(this.#agreed);
  }
}

type FileEntry = Extract<TreeEntry, { kind: 'file' }>;

/** A change for the other side; the bytes are read from the home's tree where they are not here. */
type Change = TreeChange & { readonly tree?: FileTree; readonly bytes?: Buffer };

type MountSync = {
  readonly tree: FileTree;
  readonly home: Tree;
  readonly there: Tree;
  readonly base: Tree;
  readonly agreed: Map<string, TreeEntry>;
  readonly far: FarFiles;
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

import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Tree, TreeFile } from '@patchclaw/merge';
import { digestBytes } from '../digest.ts';
import { lstat } from '../package/regular-file.ts';

/** The tests that one layer brings. */
export type LayerTests = {
  readonly skill: string;
  /** Files by their path in the package; those under `tests/` are laid out. */
  readonly files: Tree;
  /** The tests that are handed to the test command, such as `tests/telegram.test.ts`. */
  readonly test: readonly string[];
};

/** A tree laid out to be tried and thrown away. */
export type View = {
  /** Absolute. */
  readonly path: string;
  /** Room that its files take. */
  readonly sizeBytes: number;
  /** Deletes the whole view; may be called again. */
  readonly remove: () => void;
};

/**
 * Lays out a tree: the project's files, some of them changed, and tests at `skills/<name>/tests/`. Everything is a
 * copy, so nothing that runs there can reach the project through it. Secrets (`.env`), git's folder and the engine's
 * own never get in.
 *
 * It is under `.claw/tx/`, on the project's own device; with `inMemory`, and if possible, in memory.
 */
export function layOutView(
  root: string,
  contents: {
    /** All files of the project to include, relative to the root. */
    readonly paths: readonly string[];
    /** The differences of the view; null for an absent file. */
    readonly changed: ReadonlyMap<string, TreeFile | null>;
    readonly tests: readonly LayerTests[];
    /** Files that tools left in an earlier view; the tree's own files at such paths win. */
    readonly kept?: ReadonlyMap<string, Buffer>;
    readonly inMemory?: boolean;
  },
): View {
  const path = makeFolder(root, contents);
  const view = { path, sizeBytes: 0, remove: () => removeView(path) };
  const count = (bytes: number) => {
    view.sizeBytes += Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
  };
  const made = new Set<string>();
  const placeOf = (file: string) => {
    const place = join(path, file);
    const folder = dirname(place);
    if (!made.has(folder)) fs.mkdirSync(folder, { recursive: true });
    made.add(folder);
    return place;
  };
  try {
    for (const file of contents.paths) {
      if (!contents.changed.has(file) && isShown(file))
        count(copy(join(root, file), () => placeOf(file)));
    }
    for (const [file, content] of contents.changed) {
      if (content !== null && isShown(file)) count(write(placeOf(file), content));
    }
    for (const { skill, files } of contents.tests) {
      for (const [file, content] of files) {
        if (!file.startsWith('tests/')) continue;
        count(write(placeOf(join('skills', skill, file)), content));
      }
    }
    for (const [file, bytes] of contents.kept ?? []) {
      const place = placeOf(file);
      if (!fs.existsSync(place)) count(write(place, { bytes, isExecutable: false }));
    }
  } catch (error) {
    view.remove();
    throw error;
  }
  return view;
}

function makeFolder(
  root: string,
  { paths, inMemory = false }: { readonly paths: readonly string[]; readonly inMemory?: boolean },
): string {
  const { disk, memory } = viewPlaces(root);
  fs.mkdirSync(dirname(disk), { recursive: true });
  const isInMemory = inMemory && memory !== null && fitsInMemory(root, paths);
  return fs.mkdtempSync(`${isInMemory ? memory : disk}${process.pid}-`);
}

const MEMORY = '/dev/shm';
/** A larger tree is laid out on disk: memory is for the programs that run in it. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Memory that a view leaves free, for files that tests write and for other programs. */
const SPARE_BYTES = 512 * 1024 * 1024;

/** Beginnings of the paths of a project's views, on disk and in memory. */
type ViewPlaces = {
  /** `<root>/.claw/tx/view-` */
  readonly disk: string;
  /** `/dev/shm/claw-<project>-view-`; null where this machine has no such memory. */
  readonly memory: string | null;
};

/** Returns the places of a project's views, including those that a killed command may have left. */
export function viewPlaces(root: string): ViewPlaces {
  const project = digestBytes(root).replace(/^.*:/, '').slice(0, 16);
  return {
    disk: join(root, '.claw/tx', 'view-'),
    memory: hasMemory() ? join(MEMORY, `claw-${project}-view-`) : null,
  };
}

/**
 * Tells whether a tree is to be laid out in memory. Some disks take seconds to delete a thousand small files,
 * more than a proof takes to run.
 */
function fitsInMemory(root: string, paths: readonly string[]): boolean {
  const { bavail, bsize } = fs.statfsSync(MEMORY);
  let left = Math.min(MAX_BYTES, bavail * bsize - SPARE_BYTES);
  for (const path of paths) left -= lstat(join(root, path))?.size ?? 0;
  return left >= 0;
}

let known: boolean | null = null;

/** Tells whether there is a file system in memory that programs can be run from. */
function hasMemory(): boolean {
  known ??= process.platform === 'linux' && isTmpfs();
  return known;
}

function isTmpfs(): boolean {
  try {
    const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    // Such as "31 24 0:26 / /dev/shm rw,nosuid - tmpfs tmpfs rw"; a later mount covers an earlier one.
    const mount = mounts.findLast((line) => line.split(' ')[4] === MEMORY) ?? '';
    const options = mount.split(' ')[5]?.split(',') ?? [];
    fs.accessSync(MEMORY, fs.constants.W_OK);
    return / - tmpfs /.test(mount) && !options.includes('noexec') && !options.includes('ro');
  } catch {
    return false; // Not there, or not for us.
  }
}

/**
 * Removes the views of ended processes, and with `own` those of this one. While a transaction is unfinished, nothing
 * is removed: a folder that it swaps in may be waiting there.
 */
export function sweepViews(root: string, options: { readonly own?: boolean } = {}): void {
  const place = join(root, '.claw/tx');
  const names = fs.existsSync(place) ? fs.readdirSync(place) : [];
  if (names.some((name) => /^\d{6}-/.test(name))) return;
  const { disk, memory } = viewPlaces(root);
  for (const prefix of memory === null ? [disk] : [disk, memory]) {
    for (const { path, pid } of viewsAt(prefix)) {
      const isLive = pid === process.pid ? options.own !== true : isAlive(pid);
      if (!isLive) sweep(path);
    }
  }
}

function sweep(path: string): void {
  try {
    removeView(path);
  } catch {
    // Memory is everybody's: somebody else has put this there under such a name.
  }
}

/** Returns the folders whose paths begin so and go on with the id of the process that made them. */
function viewsAt(prefix: string): readonly { readonly path: string; readonly pid: number }[] {
  const folder = dirname(prefix);
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  return names.flatMap((name) => {
    const path = join(folder, name);
    const rest = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const pid = /^(\d+)-/.exec(rest)?.[1];
    return pid === undefined ? [] : [{ path, pid: Number(pid) }];
  });
}

function isShown(path: string): boolean {
  if (/^(\.git|\.claw|node_modules)(\/|$)/.test(path)) return false;
  const name = basename(path);
  return name === '.env.example' || !(name === '.env' || name.startsWith('.env.'));
}

const BLOCK_BYTES = 4096;

/** Returns the size of the file. */
function copy(from: string, to: () => string): number {
  const stat = lstat(from);
  if (stat === null) return 0; // Gone since it was listed, so gone from the tree as well.
  if (stat.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(from), to());
  else if (stat.isFile()) fs.copyFileSync(from, to(), fs.constants.COPYFILE_FICLONE);
  return stat.size;
}

function write(to: string, file: TreeFile): number {
  fs.rmSync(to, { force: true });
  fs.writeFileSync(to, file.bytes, { mode: file.isExecutable ? 0o777 : 0o666 });
  return file.bytes.length;
}

function removeView(path: string): void {
  fs.rmSync(path, { recursive: true, force: true });
  fs.rmSync(`${path}.home`, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

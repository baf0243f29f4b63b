import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Digest } from '../digest.ts';
import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import type { Fingerprint, Journal, JournalStep, Step } from './journal.ts';
import { fingerprint, isSafePath, parents } from './recover.js';
import { syncPaths } from './sync.ts';

const STATE = '.claw/state.yaml';

/** The content and the name of one transaction. */
export type StagedChange = {
  readonly verb: string;
  /** One sentence for `undo` and the log. */
  readonly summary: string;
  readonly steps: readonly Step[];
  /** New path → the path that its content came from, for files that move; none by default. */
  readonly moves?: Readonly<Record<string, string>>;
  /** Digests of `state.yaml` before and after; null where there is none. */
  readonly stateBefore: Digest | null;
  readonly stateAfter: Digest | null;
};

/**
 * Lays everything that publishing needs into the transaction's folders, on the disk for good, and
 * checks every target once more. Nothing of the project is touched.
 *
 * @returns the journal, not yet written
 * @throws ClawError TREE_CHANGED, LINK_REFUSED, PATH_UNSAFE, PATH_COLLISION; plain errors of the disk
 */
export function stage(
  root: string,
  id: string,
  change: StagedChange,
  committedAt: string,
): Journal {
  const tx = join(root, '.claw/tx', id);
  const backup = join(root, '.claw/backup', id);
  const folders = [join(tx, 'new'), join(tx, 'old')];
  for (const part of ['before', 'after', 'swap']) folders.push(join(backup, part));
  for (const own of [tx, backup]) {
    fs.mkdirSync(dirname(own), { recursive: true });
    // Never into one that is there: it could be a link.
    fs.mkdirSync(own);
  }
  for (const folder of folders) fs.mkdirSync(folder);

  refuseUnsafe(root, change.steps);
  const steps: JournalStep[] = [];
  const written: string[] = [];
  for (const step of inOrder(change.steps)) {
    const staged = stageStep(root, { tx, n: steps.length, written }, step);
    if (staged !== null) steps.push(staged);
  }
  keepAfter({ tx, backup, written }, steps);
  // All writes first, then all syncs: the disk then orders them once instead of once per file.
  syncPaths([...written, ...folders, tx, backup, dirname(tx), dirname(backup)]);
  const { verb, summary, stateBefore, stateAfter, moves = {} } = change;
  const named = { version: 1, id, verb, summary, committedAt, stateBefore, stateAfter } as const;
  return { ...named, steps, moves, ...foldersOf(root, steps) };
}

/** Writes a file and waits until the disk has it. */
export function writeSynced(path: string, bytes: Buffer | string, mode = 0o666): void {
  const file = fs.openSync(path, 'w', mode);
  try {
    fs.writeFileSync(file, bytes);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

function refuseUnsafe(root: string, steps: readonly Step[]): void {
  const seen = new Set<string>();
  const folderAt = folderReader(root);
  for (const { path } of steps) {
    if (!isSafePath(path)) {
      const message = `${path} is not a path of the project that claw may change.`;
      throw new ClawError('PATH_UNSAFE', message, { path });
    }
    if (seen.has(path)) {
      throw new ClawError('PATH_COLLISION', `Two steps would write ${path}.`, { path });
    }
    seen.add(path);
    const link = parents(path).find((folder) => folderAt(folder)?.isSymbolicLink());
    if (link !== undefined) throw linkRefused(path, link);
  }
}

/**
 * Orders the steps. Deletions go first, so that a folder can replace a file and the other way round. The
 * files that recovery itself runs on come last before `state.yaml`: until then the old ones are whole.
 */
function inOrder(steps: readonly Step[]): readonly Step[] {
  const rank = (step: Step) => {
    if (step.path === STATE) return 4;
    if (/^(bin|packages\/claw\/src\/transaction\/recover\.js)(\/|$)/.test(step.path)) return 3;
    if (step.kind === 'swap') return 2;
    return step.kind === 'delete' ? 0 : 1;
  };
  return [...steps].sort((one, other) => rank(one) - rank(other));
}

type Place = {
  readonly tx: string;
  readonly n: number;
  /** Collects what the disk has to have before the journal. */
  readonly written: string[];
};

/** @returns null for a write that changes nothing */
function stageStep(root: string, place: Place, step: Step): JournalStep | null {
  const { path } = step;
  const target = statOf(join(root, path));
  if (step.kind === 'swap') {
    refuseOutside(step.prepared);
    return { kind: 'swap', path, prepared: step.prepared, hadFolder: target !== undefined };
  }
  if (target?.isSymbolicLink()) throw linkRefused(path, path);
  const old = join(place.tx, 'old', String(place.n));
  if (target?.isFile()) fs.copyFileSync(join(root, path), old, fs.constants.COPYFILE_FICLONE);
  const now = target === undefined ? null : fingerprint(target.isFile() ? old : join(root, path));
  if (!isSame(now, step.before)) throw treeChanged(path);
  if (step.kind === 'delete') return { kind: 'file', path, before: step.before, after: null };

  const after = { digest: digestBytes(step.bytes), isExecutable: step.isExecutable };
  if (isSame(step.before, after)) return null;
  const staged = join(place.tx, 'new', String(place.n));
  fs.writeFileSync(staged, step.bytes, { mode: step.isExecutable ? 0o777 : 0o666 });
  place.written.push(staged);
  if (target?.isFile()) fs.chmodSync(staged, modeLike(target.mode, step.isExecutable));
  return { kind: 'file', path, before: step.before, after };
}

/**
 * Keeps the written bytes for undo. An editor may write into a published file in place, so what is kept must not be
 * that file; the engine's own files are only ever replaced, and a link to one of the same content is enough. The
 * exception is `state.yaml`: an owner who repairs it by hand must not spoil the copy that would help them.
 */
function keepAfter(
  { tx, backup, written }: { tx: string; backup: string; written: string[] },
  steps: readonly JournalStep[],
): void {
  const own = new Map<string, string>();
  for (const [n, step] of steps.entries()) {
    if (isOwnWrite(step)) own.set(contentOf(step), join(tx, 'new', String(n)));
  }
  for (const [n, step] of steps.entries()) {
    if (step.kind === 'swap' || step.after === null) continue;
    const after = join(backup, 'after', String(n));
    const same = own.get(contentOf(step));
    if (same !== undefined && step.path !== STATE) {
      fs.linkSync(same, after);
    } else {
      fs.copyFileSync(join(tx, 'new', String(n)), after, fs.constants.COPYFILE_FICLONE);
      written.push(after);
    }
  }
}

function isOwnWrite(step: JournalStep): step is Extract<JournalStep, { kind: 'file' }> {
  return step.kind === 'file' && step.path.startsWith('.claw/') && step.path !== STATE;
}

function contentOf({ after }: Extract<JournalStep, { kind: 'file' }>): string {
  return `${after?.digest} ${after?.isExecutable}`;
}

/** Returns the present mode, executable for all who may read, or for no user. */
function modeLike(present: number, isExecutable: boolean): number {
  const mode = present & 0o7777;
  return isExecutable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

function foldersOf(root: string, steps: readonly JournalStep[]) {
  const made = new Set<string>();
  const folderAt = folderReader(root);
  const folderModes: Record<string, number> = {};
  for (const step of steps) {
    const isRemoval = step.kind === 'swap' ? step.prepared === null : step.after === null;
    for (const folder of parents(step.path).reverse()) {
      const stat = folderAt(folder);
      if (!stat?.isDirectory()) made.add(folder);
      else if (isRemoval) folderModes[folder] = stat.mode & 0o7777;
    }
  }
  return { foldersMade: [...made], folderModes };
}

/** Returns what reads the stat of each folder once, and of none below one that is not there or a link. */
function folderReader(root: string): (folder: string) => fs.Stats | undefined {
  const seen = new Map<string, fs.Stats | undefined>();
  const read = (folder: string): fs.Stats | undefined => {
    if (seen.has(folder)) return seen.get(folder);
    const above = dirname(folder);
    const isFound = above === '.' || read(above)?.isDirectory() === true;
    const stat = isFound ? statOf(join(root, folder)) : undefined;
    seen.set(folder, stat);
    return stat;
  };
  return read;
}

/** Reads the stat of a path; undefined where it does not exist, also below a file. */
function statOf(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function refuseOutside(prepared: string | null): void {
  if (prepared === null) return;
  if (prepared.startsWith('.claw/') && !prepared.split('/').includes('..')) return;
  throw new ClawError('PATH_UNSAFE', `${prepared} was not prepared inside .claw/.`, {
    path: prepared,
  });
}

function isSame(one: Fingerprint, other: Fingerprint): boolean {
  return one?.digest === other?.digest && one?.isExecutable === other?.isExecutable;
}

/** Makes the error for a target that changed since the plan: the caller plans again. */
export function treeChanged(path: string): ClawError {
  return new ClawError('TREE_CHANGED', `${path} changed while the command was at work.`, { path });
}

function linkRefused(path: string, link: string): ClawError {
  const message = `${link} is a symbolic link, so ${path} is not written through it.`;
  return new ClawError('LINK_REFUSED', message, { path });
}

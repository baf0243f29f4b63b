import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Tree } from '@patchclaw/merge';
import { type Digest, digestTree } from '../digest.ts';
import { BASE, keptPath } from '../installed/claw-folder.ts';
import type { Installation } from '../installed/installation.ts';
import type { Release } from '../installed/release.ts';
import type { State } from '../installed/state-file.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import type { Step } from '../transaction/journal.ts';
import { hasPending } from '../transaction/recover.js';
import { syncFileSystemMeanwhile, WORTH_THE_WHOLE } from '../transaction/sync.ts';
import type { Operation } from './planned-operation.ts';

/** Makes the entry of `state.yaml` for a release. `assumed`: no `init` of the owner has named it. */
export function coreState(release: Release, assumed: boolean): State['core'] {
  const { version, commit, from, digests, extras } = release;
  const skills = skillDigests(extras);
  const known = { version, commit, from, digest: digests.digest, assumed };
  return { ...known, isUpdated: false, skills, moves: [] };
}

/** Returns the packages among the files that came with a release, each with the digest of its folder. */
export function skillDigests(extras: Tree): State['core']['skills'] {
  const names = new Set([...extras.keys()].flatMap((path) => skillOf(path) ?? []));
  return Object.fromEntries([...names].sort().map((name) => [name, folderDigest(extras, name)]));
}

function folderDigest(files: Tree, name: string): Digest {
  return digestTree(new Map([...files].filter(([path]) => skillOf(path) === name))).digest;
}

/** Returns the package that a path is in, or null. */
export function skillOf(path: string): string | null {
  return /^skills\/([a-z0-9][a-z0-9-]{0,62})\/./.exec(path)?.[1] ?? null;
}

/** The files that are written or synced in one go, while the other work of this process waits. */
const AT_ONCE = 16;

type Preparing = {
  readonly signal?: AbortSignal;
  /** Called once all files are written: from then on only the disk is waited for. */
  readonly onWritten?: () => void;
};

/**
 * Writes a release beside `.claw/base/`, ready to be swapped in by a transaction. Other work of this process
 * continues meanwhile: a proof mostly waits for programs.
 *
 * @throws ClawError INTERRUPTED
 */
export async function prepareBase(
  root: string,
  release: Release,
  { signal, onWritten = () => {} }: Preparing = {},
): Promise<Step> {
  const prepared = `.claw/cache/base-${process.pid}`;
  sweepPrepared(root);
  const folders = new Set<string>();
  const written: string[] = [];
  mkdirSync(join(root, prepared), { recursive: true });
  await inTurns([...release.files], signal, ([path, file]) => {
    const target = join(root, keptPath(prepared, path));
    const folder = dirname(target);
    if (!folders.has(folder)) mkdirSync(folder, { recursive: true });
    folders.add(folder);
    writeFileSync(target, file.bytes, { mode: file.isExecutable ? 0o755 : 0o644 });
    written.push(target);
  });
  // All writes first, then all syncs: the disk then orders them once instead of once per file.
  const isMany = written.length >= WORTH_THE_WHOLE;
  const syncing = isMany ? syncFileSystemMeanwhile(folders, signal) : Promise.resolve(false);
  onWritten();
  const isSynced = await syncing;
  if (!isSynced) await inTurns([...written, ...folders], signal, sync);
  return { kind: 'swap', path: BASE, prepared };
}

async function inTurns<T>(
  items: readonly T[],
  signal: AbortSignal | undefined,
  work: (item: T) => Promise<void> | void,
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    await setImmediate();
    throwIfInterrupted(signal);
    await Promise.all(items.slice(at, at + AT_ONCE).map(work));
  }
}

/** Waits for the disk in another thread: of several files that are asked for at once, it writes them together. */
async function sync(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Removes what killed commands had prepared and not used: a base, or a draft of `pending/`. An unfinished transaction
 * may still need its own.
 */
export function sweepPrepared(root: string): void {
  if (hasPending(root)) return;
  const cache = join(root, '.claw/cache');
  try {
    for (const name of readdirSync(cache)) {
      if (/^(base|pending)-/.test(name))
        rmSync(join(cache, name), { recursive: true, force: true });
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** Returns a reader for release files: the new release during `update`, otherwise the installed one. */
export function releaseReader({
  core,
  installation,
}: Pick<Operation, 'core' | 'installation'>): Installation['releaseFile'] {
  return core ? (path) => core.release.files.get(path) ?? null : installation.releaseFile;
}

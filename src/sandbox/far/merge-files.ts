import { Worker } from 'node:worker_threads';
import { isSameEntry, type Tree } from './file-tree.ts';

/** One path that is not the same everywhere, and what becomes of it. */
export type SyncStep =
  /** Only the home wrote it, or the other side deleted what the home wrote. */
  | { readonly kind: 'send'; readonly path: string; readonly isKept: boolean }
  /** Only the other side wrote it, or the home deleted what the other side wrote. */
  | { readonly kind: 'take'; readonly path: string; readonly isKept: boolean }
  /** Both wrote it, differently. */
  | { readonly kind: 'merge'; readonly path: string };

/**
 * Compares the files of both sides with those that they last agreed on. Files that are the same on both sides need no
 * step. Where one side deleted what the other one changed, the change is kept.
 */
export function planSync(base: Tree, home: Tree, far: Tree): readonly SyncStep[] {
  const paths = new Set([...base.keys(), ...home.keys(), ...far.keys()]);
  return [...paths].sort().flatMap((path): SyncStep[] => {
    const [was, here, there] = [base.get(path), home.get(path), far.get(path)];
    if (isSameEntry(here, there)) return [];
    // Something is there that cannot be sent: both sides keep what they have.
    if (here?.kind === 'opaque' || there?.kind === 'opaque') return [];
    if (isSameEntry(there, was)) return [{ kind: 'send', path, isKept: false }];
    if (isSameEntry(here, was)) return [{ kind: 'take', path, isKept: false }];
    if (there === undefined) return [{ kind: 'send', path, isKept: true }];
    if (here === undefined) return [{ kind: 'take', path, isKept: true }];
    return [{ kind: 'merge', path }];
  });
}

/** The longest text that is merged. */
const MAX_MERGED_BYTES = 1_048_576;

export type MergedFile =
  | { readonly kind: 'merged'; readonly bytes: Buffer }
  /** `shown` has the places in dispute between markers; null for what is not text. */
  | { readonly kind: 'conflict'; readonly shown: string | null };

/** The versions of one file, as they go to the thread that merges them. */
export type MergeTask = {
  readonly path: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
};

/** The result. Of a text with conflicts, only the beginning is returned. */
export type MergedTexts = { readonly text: string; readonly conflicts: number };

/** A merge that takes longer is given up, and both versions are kept. */
const MAX_MERGE_MS = 60_000;
const MAX_MERGE_MB = 512;

/**
 * Merges a file that both sides wrote, in a thread of its own: thousands of conflicts in one file take seconds, and all
 * chats would stand still meanwhile. A thread that fails or takes too long is a conflict.
 *
 * @param base null where nobody has it any more
 */
export async function mergeFile(
  path: string,
  base: Buffer | null,
  { home, far }: { readonly home: Buffer; readonly far: Buffer },
): Promise<MergedFile> {
  const [was, ours, theirs] = [base ?? Buffer.alloc(0), home, far].map(textOf);
  if (was === undefined || was === null || ours === undefined || ours === null) return BINARY;
  if (theirs === undefined || theirs === null) return BINARY;
  const merged = await mergeElsewhere({ path, base: was, ours, theirs });
  if (merged === null) return BINARY;
  return merged.conflicts === 0
    ? { kind: 'merged', bytes: Buffer.from(merged.text) }
    : { kind: 'conflict', shown: merged.text };
}

/** Null where the thread ended without a result. */
async function mergeElsewhere(task: MergeTask): Promise<MergedTexts | null> {
  const { promise, resolve } = Promise.withResolvers<MergedTexts | null>();
  // The merge and its parsers are loaded there, and not at all where chats run at home.
  const worker = new Worker(new URL('./merge-files-worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MERGE_MB },
    execArgv: [],
    env: {},
  });
  worker.once('message', resolve);
  worker.once('error', () => resolve(null));
  worker.once('exit', () => resolve(null));
  const late = setTimeout(() => resolve(null), MAX_MERGE_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}

const BINARY: MergedFile = { kind: 'conflict', shown: null };

function textOf(bytes: Buffer): string | null {
  if (bytes.length > MAX_MERGED_BYTES || bytes.includes(0)) return null;
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : null;
}

/** Returns the path of the other side's version, beside the home's: `notes.from-nas.md`. */
export function pathBeside(
  path: string,
  machine: string,
  isTaken: (path: string) => boolean,
): string {
  const at = path.lastIndexOf('/') + 1;
  const name = path.slice(at);
  const dot = name.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 1; ; number += 1) {
    const made = `${path.slice(0, at)}${stem}.from-${machine}${number === 1 ? '' : `-${number}`}${end}`;
    if (!isTaken(made)) return made;
  }
}

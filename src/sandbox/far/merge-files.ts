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

/** Merges a file that both sides wrote. @param base null where nobody has it any more */
export async function mergeFile(
  path: string,
  base: Buffer | null,
  { home, far }: { readonly home: Buffer; readonly far: Buffer },
): Promise<MergedFile> {
  const texts = [base ?? Buffer.alloc(0), home, far].map(textOf);
  const [was, ours, theirs] = texts;
  if (was === undefined || was === null || ours === undefined || ours === null) return BINARY;
  if (theirs === undefined || theirs === null) return BINARY;
  // Its parsers are not needed where chats run at home.
  const { mergeText } = await import('@patchclaw/merge');
  const { text, conflicts } = mergeText({ base: was, ours, theirs }, { path });
  return conflicts === 0
    ? { kind: 'merged', bytes: Buffer.from(text) }
    : { kind: 'conflict', shown: text };
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

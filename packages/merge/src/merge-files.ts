import { headsOf } from './heads/dispute-heads.ts';
import type { LineRange } from './lines/compare-files.ts';
import { type Interned, internLines } from './lines/interned-lines.ts';
import { type Hunk, mapVersions, splitLines, withoutBom } from './lines/lines.ts';
import { isEqual, type Region } from './lines/regions.ts';
import { mergeRegions } from './merge-lines.ts';
import { mergeTexts } from './merge-text.ts';
import { formatOf } from './syntax/language.ts';
import { isSameFile, mergeValue, mergeWhole, type TreeFile, type Versions } from './versions.ts';

/**
 * A merged file (null if it is deleted), or the reason why there is none yet.
 *
 * The `hunks` of a text conflict are lines read as latin1, so that every byte survives; they are empty for `binary`
 * and `modify-delete`. `isExecutable` is resolved in either case.
 */
export type FileMerge =
  | { readonly kind: 'clean'; readonly file: TreeFile | null }
  | {
      readonly kind: 'conflict';
      readonly conflict: 'content' | 'binary' | 'modify-delete' | 'add-add';
      readonly hunks: readonly Hunk[];
      readonly isExecutable: boolean;
    };

/** As git does: a NUL among the first bytes makes a file binary. */
const BINARY_PROBE_BYTES = 8000;

/**
 * Merges two versions of one file; content and mode are merged separately, and null is an absent file.
 *
 * A conflict is a result like any other. No failure can be mistaken for one: a missing side and binary bytes, which
 * cannot be merged as text, have their own kinds.
 *
 * @param path its extension tells the language; without one the text is merged by lines alone
 */
export function mergeFiles(
  versions: Versions<TreeFile | null>,
  { path }: { readonly path?: string } = {},
): FileMerge {
  const whole = mergeWhole(versions, isSameFile);
  if (whole !== null) return { kind: 'clean', file: versions[whole] };
  const { base, ours, theirs } = versions;
  const isExecutable = mergeModes(versions);
  if (ours === null || theirs === null) {
    return { kind: 'conflict', conflict: 'modify-delete', hunks: [], isExecutable };
  }
  if (base === null) return mergeAdded({ ours: ours.bytes, theirs: theirs.bytes }, isExecutable);
  const bytes = mapVersions({ base, ours, theirs }, (file) => file.bytes);
  return mergeContents(bytes, isExecutable, path);
}

/** Merges two files at one path with no ancestor: the same bytes or a conflict, never a guess. */
function mergeAdded(
  { ours, theirs }: Omit<Versions<Buffer>, 'base'>,
  isExecutable: boolean,
): FileMerge {
  if (ours.equals(theirs)) return { kind: 'clean', file: { bytes: ours, isExecutable } };
  if (isBinary(ours) || isBinary(theirs)) {
    return { kind: 'conflict', conflict: 'add-add', hunks: [], isExecutable };
  }
  const texts = { base: '', ours: ours.toString('latin1'), theirs: theirs.toString('latin1') };
  const merged = mergeTexts(texts);
  // Clean here means that one has all of the other, or only line ends differ: the whole file is the question.
  const whole: Hunk = { kind: 'conflict', ...mapVersions(texts, splitLines) };
  const hunks = merged.kind === 'clean' ? [whole] : merged.hunks;
  return { kind: 'conflict', conflict: 'add-add', hunks, isExecutable };
}

function mergeContents(
  bytes: Versions<Buffer>,
  isExecutable: boolean,
  path: string | undefined,
): FileMerge {
  const whole = mergeWhole(bytes, (one, other) => one.equals(other));
  if (whole !== null) return { kind: 'clean', file: { bytes: bytes[whole], isExecutable } };
  if (isBinary(bytes.base) || isBinary(bytes.ours) || isBinary(bytes.theirs)) {
    return { kind: 'conflict', conflict: 'binary', hunks: [], isExecutable };
  }
  const texts = mapVersions(bytes, (side) => side.toString('latin1'));
  const merged = mergeTexts(texts, formatOf(path), headsOf(path));
  if (merged.kind === 'conflict') {
    return { kind: 'conflict', conflict: 'content', hunks: merged.hunks, isExecutable };
  }
  return { kind: 'clean', file: { bytes: Buffer.from(merged.text, 'latin1'), isExecutable } };
}

/** Merges modes. An absent base counts as not executable, an absent side as one that left the mode alone. */
function mergeModes({ base, ours, theirs }: Versions<TreeFile | null>): boolean {
  const before = base?.isExecutable ?? false;
  return mergeValue({
    base: before,
    ours: ours?.isExecutable ?? before,
    theirs: theirs?.isExecutable ?? before,
  });
}

/** Tells whether a file is merged as a whole. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** The number of changes that theirs makes, and the lines of ours that already contain some of them. */
export type ContainedChanges = {
  readonly changes: number;
  readonly contained: readonly LineRange[];
};

/**
 * Finds the changes of theirs that ours contains, exactly or within a larger change. A change is a run of lines. A
 * merge keeps contained changes once. Removed lines are represented by the line after the gap.
 *
 * It compares by lines only, and finds nothing in files that are not text.
 */
export function containedChanges(versions: Versions<TreeFile>): ContainedChanges {
  if (Object.values(versions).some(({ bytes }) => isBinary(bytes))) {
    return { changes: 0, contained: [] };
  }
  const lines = mapVersions(versions, ({ bytes }) =>
    withoutBom(splitLines(bytes.toString('latin1'))),
  );
  const texts = internLines(lines);
  const changed = mergeRegions(lines, texts, null).filter((region) => isChanged(region, texts));
  const contained = changed.filter(isContained).map(({ ours }): LineRange => {
    const first = Math.min(ours.start + 1, Math.max(1, lines.ours.length));
    return [first, Math.max(first, ours.end)];
  });
  return { changes: changed.length, contained };
}

function isChanged({ base, theirs }: Region, texts: Interned): boolean {
  const before = texts.base.subarray(base.start, base.end);
  return !isEqual(before, texts.theirs.subarray(theirs.start, theirs.end));
}

/** Tells whether, of a change that both sides made, ours contains all of theirs. */
function isContained({ kind }: Region): boolean {
  return kind === 'both' || kind === 'ours';
}

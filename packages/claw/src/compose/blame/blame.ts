import { at, diffLines, internLines, splitLines, type TreeFile } from '@patchclaw/merge';
import { type KeyPath, lineKeys } from '../../structured/json/line-keys.ts';
import type { StructuredKind } from '../../structured/structured-kind.ts';

/** The owner of a line. For a shared line of a structured file, `layers` are all that declare it. */
export type Owner =
  | { readonly kind: 'core' }
  | { readonly kind: 'layers'; readonly names: readonly string[] }
  | {
      readonly kind: 'resolution';
      readonly key: string;
      readonly layers: readonly [ours: string, theirs: string];
      readonly origin: string | null;
    }
  | { readonly kind: 'edit' };

/** A text with the owner of each of its lines. Lines are read as latin1; a binary file is one line. */
export type Blamed = { readonly lines: readonly string[]; readonly owners: readonly Owner[] };

/** Names an owner for a line of the new text; `keys` lead to it in a structured file. */
type Name<T> = (line: number, keys: KeyPath | null) => T;

/** One change of a file: what it becomes, and whose its new lines are. */
export type BlameStep = {
  readonly after: TreeFile | null;
  readonly owner: Name<Owner>;
  /** Overrides the owner of a line, whether it is new or kept. */
  readonly claim?: Name<Owner | null>;
};

export const CORE_OWNER: Owner = { kind: 'core' };
export const EDIT_OWNER: Owner = { kind: 'edit' };

const BINARY_PROBE_BYTES = 8000;

/** Tells binary files from text as git does, by a NUL among the first bytes. */
export function isBinary({ bytes }: TreeFile): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Returns a file whose lines all have the same owner. */
export function blameWhole(file: TreeFile | null, owner: Owner): Blamed {
  const lines = linesOf(file);
  return { lines, owners: lines.map(() => owner) };
}

/**
 * Carries owners over a change: lines that stay keep theirs. In structured files a line is identified by its
 * key and its words. So a comma after it, or a neighbour that looks alike, changes nothing.
 */
export function blameStep(kind: StructuredKind | null, before: Blamed, step: BlameStep): Blamed {
  const lines = linesOf(step.after);
  const keys = step.after === null ? null : lineKeys(kind, step.after.bytes);
  const known = lineKeys(kind, Buffer.from(before.lines.join(''), 'latin1'));
  const kept =
    keys !== null && known !== null
      ? keptByKey({ ...before, keys: known }, { lines, keys })
      : keptByLine(before, lines);
  const owners = lines.map((_, line) => {
    const place = keys?.[line] ?? null;
    return step.claim?.(line, place) ?? kept[line] ?? step.owner(line, place);
  });
  return { lines, owners };
}

/**
 * Returns the owners of the lines that a change replaces or removes. For an insertion, it is the owner of the lines
 * around it, if both have the same.
 */
export function touchedOwners({ lines, owners }: Blamed, now: TreeFile | null): readonly Owner[] {
  const after = linesOf(now);
  const partners = partnersOf(lines, after);
  const touched = new Set<Owner>();
  let last = { before: -1, after: -1 };
  for (let index = 0; index <= lines.length; index += 1) {
    const partner = index === lines.length ? after.length : at(partners, index);
    if (partner < 0) continue;
    const gone = owners.slice(last.before + 1, index);
    for (const owner of gone) touched.add(owner);
    const [above, below] = [owners[last.before], owners[index]];
    const isInserted = gone.length === 0 && partner > last.after + 1;
    if (isInserted && above !== undefined && above === below) touched.add(above);
    last = { before: index, after: partner };
  }
  return [...touched];
}

function linesOf(file: TreeFile | null): readonly string[] {
  if (file === null) return [];
  const text = file.bytes.toString('latin1');
  return isBinary(file) ? [text] : splitLines(text);
}

function partnersOf(before: readonly string[], after: readonly string[]): Int32Array {
  const texts = internLines({ base: before, ours: after, theirs: [] });
  return diffLines(texts.base, texts.ours, texts.size);
}

function keptByLine(
  { lines, owners }: Blamed,
  after: readonly string[],
): readonly (Owner | null)[] {
  const kept = new Array<Owner | null>(after.length).fill(null);
  for (const [index, partner] of partnersOf(lines, after).entries()) {
    if (partner >= 0) kept[partner] = owners[index] ?? null;
  }
  return kept;
}

type Keyed = { readonly lines: readonly string[]; readonly keys: readonly KeyPath[] };

function keptByKey(before: Blamed & Keyed, after: Keyed): readonly (Owner | null)[] {
  const waiting = new Map<string, Owner[]>();
  const maps = new Map<string, Owner>();
  for (const [line, owner] of before.owners.entries()) {
    const id = idOf(before, line);
    waiting.set(id, [...(waiting.get(id) ?? []), owner]);
    const place = placeOf(before, line);
    if (!maps.has(place)) maps.set(place, owner);
  }
  return after.lines.map((_, line) => {
    const same = waiting.get(idOf(after, line))?.shift();
    if (same !== undefined) return same;
    // An empty map that gets its first key, `{}`, ends on a line of its own from then on.
    const isEnd = /^[}\]]+$/.test(wordsOf(after.lines[line]));
    return isEnd ? (maps.get(placeOf(after, line)) ?? null) : null;
  });
}

function placeOf({ keys }: Keyed, line: number): string {
  return (keys[line] ?? []).join('\0');
}

function idOf(text: Keyed, line: number): string {
  return `${placeOf(text, line)}\n${wordsOf(text.lines[line])}`;
}

/** Returns the words of a line, without what depends on the line after it. */
function wordsOf(line = ''): string {
  return line
    .trim()
    .replace(/,$/, '')
    .replace(/[{[][}\]]?$/, '')
    .trimEnd();
}

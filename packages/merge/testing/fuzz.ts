import { mergeText } from '../src/merge-text.ts';
import { FAMILIES } from './families.ts';

type Random = () => number;
type Edit = (lines: string[], random: Random, fresh: () => string) => void;

/** One random merge, and what is wrong with its result; null where nothing is. */
export type Fuzzed = {
  readonly path: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  readonly fault: string | null;
};

const MAX_EDITS = 5;

/**
 * Makes random edits of a random source on both sides, and merges them.
 *
 * A line that the base and both sides have once must be in the result; a line of the result must be in one of
 * the sides, space, quotes and separators apart, which a layout may change.
 */
export function fuzzMerge(random: Random): Fuzzed {
  const { path, base, sides } = randomEdits(random, 2);
  const [ours = base, theirs = base] = sides;
  const { text } = mergeText({ base, ours, theirs }, { path });
  return { path, base, ours, theirs, fault: faultOf({ base, ours, theirs }, text) };
}

/** Returns a random source and so many random edits of it, none of which knows of another. */
export function randomEdits(
  random: Random,
  count: number,
): { readonly path: string; readonly base: string; readonly sides: readonly string[] } {
  let made = 0;
  const fresh = () => `fresh${made++}`;
  const { path, base } = randomSource(random);
  return { path, base, sides: Array.from({ length: count }, () => edited(base, random, fresh)) };
}

function randomSource(random: Random): { readonly path: string; readonly base: string } {
  const upTo = (most: number) => Math.floor(random() * most);
  const family = FAMILIES[upTo(FAMILIES.length)] ?? FAMILIES[0];
  if (family === undefined) throw new Error('there are no families');
  const items = Array.from({ length: 1 + upTo(30) }, (_, index) =>
    family.item(`key${index}`, upTo(90)),
  );
  return { path: family.path, base: family.write(items) };
}

function edited(text: string, random: Random, fresh: () => string): string {
  const lines = text.split('\n');
  for (let left = 1 + Math.floor(random() * MAX_EDITS); left > 0; left--) {
    EDITS[Math.floor(random() * EDITS.length)]?.(lines, random, fresh);
  }
  return lines.join('\n');
}

const place = (lines: readonly string[], random: Random) => Math.floor(random() * lines.length);
const block = (lines: readonly string[], random: Random) => {
  const start = place(lines, random);
  return { start, length: 1 + Math.floor(random() * 6) };
};

const EDITS: readonly Edit[] = [
  // A line like its neighbour with another name, as most insertions are.
  (lines, random, fresh) => {
    const at = place(lines, random);
    lines.splice(
      at,
      0,
      (lines[at] ?? '').replaceAll(/\w*\d+|^\w+/g, () => fresh()),
    );
  },
  (lines, random, fresh) => lines.splice(place(lines, random), 0, `${fresh()}();`),
  (lines, random) => {
    const { start, length } = block(lines, random);
    lines.splice(start, length);
  },
  (lines, random, fresh) => {
    const at = place(lines, random);
    lines[at] = (lines[at] ?? '').replace(/\w+/, () => fresh());
  },
  (lines, random) => {
    const { start, length } = block(lines, random);
    const moved = lines.splice(start, length);
    lines.splice(place(lines, random), 0, ...moved);
  },
  (lines, random) => {
    const { start, length } = block(lines, random);
    lines.splice(place(lines, random), 0, ...lines.slice(start, start + length));
  },
  (lines, random) => {
    const { start, length } = block(lines, random);
    for (let at = start; at < Math.min(lines.length, start + length); at++)
      lines[at] = `  ${lines[at]}`;
  },
];

function faultOf(
  { base, ours, theirs }: { readonly base: string; readonly ours: string; readonly theirs: string },
  merged: string,
): string | null {
  const [before, mine, other] = [base, ours, theirs].map(countLines);
  if (before === undefined || mine === undefined || other === undefined) return null;
  const result = countLines(merged);
  for (const [line, count] of before) {
    const isKept = count === 1 && mine.get(line) === 1 && other.get(line) === 1;
    if (isKept && !result.has(line)) return `lost: ${line}`;
  }
  const known = new Set([...before.keys(), ...mine.keys(), ...other.keys()]);
  for (const line of result.keys()) {
    if (!known.has(line) && !/^(?:<{7}|\|{7}|={7}|>{7})/.test(line)) return `of neither: ${line}`;
  }
  return null;
}

/** Counts lines by what they say: layout may change all else. */
function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const plain = line.replaceAll(/[\s'"`,;]+/g, '');
    if (plain !== '') counts.set(plain, (counts.get(plain) ?? 0) + 1);
  }
  return counts;
}

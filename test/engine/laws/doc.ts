/**
 * A file as the model sees it: values in slots that stand far enough apart for no merge to confuse
 * them. So what a merge of lines or keys must give can be told slot by slot, without any merge.
 */
export type Doc = {
  readonly style: 'text' | 'json' | 'env' | 'raw';
  /** Empty for a line that is not there; a raw file is one value, and is never merged. */
  readonly slots: readonly string[];
  readonly eol: '\n' | '\r\n';
  readonly isExecutable: boolean;
};

export type Sides<T> = { readonly base: T; readonly ours: T; readonly theirs: T };

/** A conflict to decide: one slot of a file, or with null the file as a whole. */
export type Question = {
  readonly slot: number | null;
  readonly sides: Sides<unknown>;
  readonly eol: string;
};

/** Null where nobody knows. */
export type Ask = (question: Question) => 'ours' | 'theirs' | null;

export type Merged = { readonly doc: Doc | null; readonly open: readonly (number | null)[] };

export const ENV_KEYS = ['HOST', 'PORT'] as const;
const JSON_KEYS = ['version', 'description', 'homepage'] as const;

/** The bytes of a file, without its mode. */
export function render({ style, slots, eol }: Doc): string {
  if (style === 'raw') return slots[0] ?? '';
  const lines =
    style === 'text' ? textLines(slots) : style === 'json' ? jsonLines(slots) : envLines(slots);
  return lines.map((line) => line + eol).join('');
}

/** Returns the path by which a conflict about a slot is reported. */
export function conflictPath(path: string, style: Doc['style'], slot: number | null): string {
  if (slot === null || style === 'text' || style === 'raw') return path;
  return `${path}#${style === 'json' ? JSON_KEYS[slot] : ENV_KEYS[slot]}`;
}

export function isSameDoc(one: Doc | null, other: Doc | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The three-way merge that is asked for, on slots. */
export function mergeDocs({ base, ours, theirs }: Sides<Doc | null>, ask: Ask): Merged {
  if (isSameDoc(base, ours)) return { doc: theirs, open: [] };
  if (isSameDoc(base, theirs) || isSameDoc(ours, theirs)) return { doc: ours, open: [] };
  if (base === null && ours !== null && theirs !== null) {
    // The same bytes with other rights are one file, which may be run if one of them may.
    const doc = { ...ours, isExecutable: true };
    if (isSameDoc(doc, { ...theirs, isExecutable: true })) return { doc, open: [] };
  }
  if (base === null || ours === null || theirs === null || ours.style === 'raw') {
    const eol = ours?.eol ?? theirs?.eol ?? '\n';
    const side = ask({ slot: null, sides: { base, ours, theirs }, eol });
    if (side === null) return { doc: ours, open: [null] };
    const doc = side === 'ours' ? ours : theirs;
    if (ours === null || theirs === null || doc?.style !== 'text') return { doc, open: [] };
    // A side says which lines; how they end, unless that is all, and the mode are merged as ever.
    const isSameText = ours.slots.join('\n') === theirs.slots.join('\n');
    const isExecutable = ours.isExecutable || theirs.isExecutable;
    return { doc: { ...doc, eol: isSameText ? doc.eol : eol, isExecutable }, open: [] };
  }
  const eol = mergeValue({ base: base.eol, ours: ours.eol, theirs: theirs.eol }) ?? ours.eol;
  const modes = [base.isExecutable, ours.isExecutable, theirs.isExecutable] as const;
  const isExecutable = modes[0] === modes[1] ? modes[2] : modes[1];
  const open: number[] = [];
  const slots = ours.slots.map((mine, slot) => {
    const sides = { base: base.slots[slot] ?? '', ours: mine, theirs: theirs.slots[slot] ?? '' };
    const merged = mergeValue(sides);
    if (merged !== null) return merged;
    const side = ask({ slot, sides, eol });
    if (side === null) open.push(slot);
    return side === 'theirs' ? sides.theirs : mine;
  });
  return { doc: { style: ours.style, slots, eol, isExecutable }, open };
}

function mergeValue<T>({ base, ours, theirs }: Sides<T>): T | null {
  if (base === ours) return theirs;
  return base === theirs || ours === theirs ? ours : null;
}

function textLines(slots: readonly string[]): readonly string[] {
  const parts = slots.map((value, slot) => [
    ...(value === '' ? [] : [value]),
    `-- below ${slot}, and`,
    `-- above ${slot + 1}`,
  ]);
  return ['-- above 0', ...parts.flat()];
}

function jsonLines(slots: readonly string[]): readonly string[] {
  const entries = JSON_KEYS.map((key, slot) => `  "${key}": "${slots[slot] ?? ''}",`);
  return ['{', '  "name": "app",', ...entries, '  "private": true', '}'];
}

/** Settings of the core, then those that skills declare, a group for each of them. */
function envLines(slots: readonly string[]): readonly string[] {
  const own = ENV_KEYS.map((key, slot) => `# the ${key}\n${key}=${slots[slot] ?? ''}`);
  const added = slots.slice(ENV_KEYS.length).filter((name) => name !== '');
  return [...own.join('\n').split('\n'), ...added.flatMap((name) => ['', `${name}=`])];
}

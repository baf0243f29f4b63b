import { isUtf8 } from 'node:buffer';
import { diffLines } from './lines/diff.ts';
import { at } from './lines/interned-lines.ts';
import { splitLines } from './lines/lines.ts';
import type { TreeFile } from './versions.ts';

/** A file that becomes another; null for an absent one. `movedFrom` is its former path, if it had one. */
export type PatchSubject = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
  readonly movedFrom: string | null;
};

/** A patch of one file as git writes it, and how many lines it adds and removes. */
export type FilePatch = {
  readonly patch: string;
  readonly added: number;
  readonly removed: number;
};

const CONTEXT = 3;
const BINARY_PROBE_BYTES = 8000;
const NO_NEWLINE = '\\ No newline at end of file\n';

/**
 * Writes a change of one file as a unified patch that `git apply` accepts, to the byte. For bytes that are not UTF-8
 * text, the patch only says that they differ: a patch is text, and would lose them.
 */
export function unifiedPatch(subject: PatchSubject): FilePatch {
  const { before, after } = subject;
  const head = headOf(subject);
  if (isSameBytes(before, after)) return { patch: head, added: 0, removed: 0 };
  const names = namesOf(subject);
  if (!isText(before) || !isText(after)) {
    const patch = `${head}Binary files ${names.before} and ${names.after} differ\n`;
    return { patch, added: 0, removed: 0 };
  }
  const texts = { before: linesOf(before), after: linesOf(after) };
  const edits = editsBetween(texts.before, texts.after);
  const hunks = groupEdits(edits).map((group) => hunkOf(group, texts));
  const sides = `--- ${names.before}${tabBehind(names.before)}\n+++ ${names.after}${tabBehind(names.after)}\n`;
  return {
    // An empty file has no lines to show.
    patch: hunks.length === 0 ? head : `${head}${sides}${hunks.join('')}`,
    added: edits.reduce((sum, { bStart, bEnd }) => sum + bEnd - bStart, 0),
    removed: edits.reduce((sum, { aStart, aEnd }) => sum + aEnd - aStart, 0),
  };
}

function headOf({ path, before, after, movedFrom }: PatchSubject): string {
  const from = movedFrom ?? path;
  const lines = [`diff --git ${quoted(`a/${from}`)} ${quoted(`b/${path}`)}`];
  if (before === null && after !== null) lines.push(`new file mode ${modeOf(after)}`);
  if (before !== null && after === null) lines.push(`deleted file mode ${modeOf(before)}`);
  if (before !== null && after !== null && before.isExecutable !== after.isExecutable) {
    lines.push(`old mode ${modeOf(before)}`, `new mode ${modeOf(after)}`);
  }
  if (movedFrom !== null) lines.push(`rename from ${quoted(from)}`, `rename to ${quoted(path)}`);
  return `${lines.join('\n')}\n`;
}

function namesOf({ path, before, after, movedFrom }: PatchSubject) {
  return {
    before: before === null ? '/dev/null' : quoted(`a/${movedFrom ?? path}`),
    after: after === null ? '/dev/null' : quoted(`b/${path}`),
  };
}

function modeOf({ isExecutable }: TreeFile): string {
  return isExecutable ? '100755' : '100644';
}

/** Quotes a name, as git does, that would not fit on a line by itself. */
function quoted(name: string): string {
  if (!/["\\\x00-\x1f\x7f]/.test(name)) return name;
  const escaped = name.replace(/["\\]/g, '\\$&').replace(/[\x00-\x1f\x7f]/g, (character) => {
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `"${escaped}"`;
}

// Ends a name that contains a space with a tab: only that tells its end.
function tabBehind(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? '\t' : '';
}

function isSameBytes(one: TreeFile | null, other: TreeFile | null): boolean {
  return one !== null && other !== null && one.bytes.equals(other.bytes);
}

function isText(file: TreeFile | null): boolean {
  if (file === null) return true;
  return !file.bytes.subarray(0, BINARY_PROBE_BYTES).includes(0) && isUtf8(file.bytes);
}

function linesOf(file: TreeFile | null): readonly string[] {
  return splitLines(file?.bytes.toString('utf8') ?? '');
}

/** Lines `aStart` to `aEnd` of the one text became `bStart` to `bEnd` of the other; ends are exclusive. */
type Edit = {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
};

function editsBetween(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const numbers = new Map<string, number>();
  // Unlike in a merge, line ends count: the patch has to carry them.
  const intern = (line: string) => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  const a = Int32Array.from(before, intern);
  const b = Int32Array.from(after, intern);
  const partners = diffLines(a, b, numbers.size);
  const edits: Edit[] = [];
  let aStart = 0;
  let bStart = 0;
  for (let index = 0; index <= before.length; index += 1) {
    const partner = index === before.length ? after.length : at(partners, index);
    if (partner < 0) continue;
    if (index > aStart || partner > bStart) {
      edits.push({ aStart, aEnd: index, bStart, bEnd: partner });
    }
    aStart = index + 1;
    bStart = partner + 1;
  }
  return edits;
}

/** Groups edits into hunks: those whose context would touch share one. */
function groupEdits(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const groups: Edit[][] = [];
  for (const edit of edits) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group && last && edit.aStart - last.aEnd <= 2 * CONTEXT) group.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

type Texts = { readonly before: readonly string[]; readonly after: readonly string[] };

function hunkOf(edits: readonly Edit[], { before, after }: Texts): string {
  const [first, last] = [edits[0], edits.at(-1)];
  if (first === undefined || last === undefined) return '';
  const start = Math.max(0, first.aStart - CONTEXT);
  const end = Math.min(before.length, last.aEnd + CONTEXT);
  const lead = first.aStart - start;
  const trail = end - last.aEnd;
  const lines: string[] = [];
  let place = start;
  for (const { aStart, aEnd, bStart, bEnd } of edits) {
    lines.push(...before.slice(place, aStart).map((line) => marked(' ', line)));
    lines.push(...before.slice(aStart, aEnd).map((line) => marked('-', line)));
    lines.push(...after.slice(bStart, bEnd).map((line) => marked('+', line)));
    place = aEnd;
  }
  lines.push(...before.slice(place, end).map((line) => marked(' ', line)));
  const bStart = first.bStart - lead;
  const bEnd = last.bEnd + trail;
  return `@@ -${spanOf(start, end)} +${spanOf(bStart, bEnd)} @@\n${lines.join('')}`;
}

function marked(mark: string, line: string): string {
  return line.endsWith('\n') ? mark + line : `${mark}${line}\n${NO_NEWLINE}`;
}

/** Names a stretch of lines; one without lines is named by the line before it. */
function spanOf(start: number, end: number): string {
  const count = end - start;
  const first = count === 0 ? start : start + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
}

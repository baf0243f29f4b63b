import { bodyOf, type KeyedChunk } from './keyed-lines.ts';

/** Returns the comments that ours wrote above a key that goes: the key's own comment goes with it. */
export function ownComments(base: KeyedChunk | null, ours: KeyedChunk | null): readonly string[] {
  const known = new Set(base?.lead.map((line) => line.trim()));
  const lead = ours?.lead ?? [];
  return lead.filter((line) => line.trim() !== '' && !known.has(line.trim()));
}

/** Returns the comment that ours wrote after a value of one line; empty where more than that differs. */
export function commentBehind(base: KeyedChunk, ours: KeyedChunk): string {
  const [before, after] = [base, ours].map((chunk) => bodyOf(chunk).join('').trim());
  if (before === undefined || after === undefined || before.includes('\n')) return '';
  const rest = after.startsWith(before) ? after.slice(before.length) : '';
  return /^\s+#[^\n]*$/.test(rest) ? rest : '';
}

/** Adds a comment after a line, where it has none yet. */
export function withComment(
  lines: readonly string[] | null,
  comment: string,
): readonly string[] | null {
  const [line] = lines ?? [];
  if (lines?.length !== 1 || line === undefined || /\s#/.test(line)) return lines;
  return [line.trimEnd() + comment + line.slice(line.trimEnd().length)];
}

/** Tells whether ours has comments in the lines of a key that neither base nor the merged lines have. */
export function losesComments(
  base: KeyedChunk,
  ours: KeyedChunk,
  lines: readonly string[] | null,
): boolean {
  const known = new Set([...commentsOf(bodyOf(base)), ...commentsOf(lines ?? [])]);
  return commentsOf(bodyOf(ours)).some((comment) => !known.has(comment));
}

function commentsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => /(?:^|\s)(#.*)/.exec(line.trim())?.[1]?.trim() ?? []);
}

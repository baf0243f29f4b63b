import { beginningOf } from './graphemes.ts';

export type CutText = { readonly text: string; readonly isTruncated: boolean };

/** Cuts at the last whole character that fits: no emoji sequence, flag or accented letter is cut. */
export function cutText(text: string, maxBytes: number): CutText {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, isTruncated: false };
  let end = maxBytes;
  // 10xxxxxx continues a character that began before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const { length } = bytes.subarray(0, end).toString();
  return { text: beginningOf(text, length).toWellFormed(), isTruncated: true };
}

/** The most that a model is shown of one tool's result. */
const MAX_RESULT_BYTES = 65_536;

/** Cuts a tool's result to what a model is shown of it, and says so at its end. */
export function cutResult(result: string): string {
  const { text, isTruncated } = cutText(result, MAX_RESULT_BYTES);
  return isTruncated ? `${text}\n[cut at 64 KB]` : text;
}

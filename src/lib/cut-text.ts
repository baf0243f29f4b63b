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

/** The most that a model is shown of one tool's result, as JSON. */
const MAX_RESULT_BYTES = 65_536;
const ROOM_BYTES = 200;

/**
 * Cuts a tool's result by its type to the size that a model is shown, so that the rest can still be read. A text gets
 * a suffix; a list keeps its first elements and says how many there were; an object becomes the beginning of its JSON
 * in an envelope. A value that is not too long is returned unchanged.
 */
export function cutResult(value: string, maxBytes?: number): string;
export function cutResult(value: unknown, maxBytes?: number): unknown;
export function cutResult(value: unknown, maxBytes = MAX_RESULT_BYTES): unknown {
  if (typeof value === 'string') {
    if (!cutText(value, maxBytes).isTruncated) return value;
    const shown = cutText(value, maxBytes - ROOM_BYTES).text;
    return `${shown}\n[cut at 64 KB of ${Buffer.byteLength(value)} bytes]`;
  }
  const json = JSON.stringify(value) ?? 'null';
  if (Buffer.byteLength(json) <= maxBytes) return value;
  if (Array.isArray(value)) return cutList(value, maxBytes);
  // Quotes and line breaks take two bytes within a JSON text.
  return {
    _truncated_json: cutText(json, Math.floor((maxBytes - ROOM_BYTES) / 2)).text,
    _bytes: Buffer.byteLength(json),
  };
}

function cutList(list: readonly unknown[], maxBytes: number): readonly unknown[] {
  let left = maxBytes - ROOM_BYTES;
  const shown: unknown[] = [];
  for (const element of list) {
    left -= Buffer.byteLength(JSON.stringify(element) ?? 'null') + 1;
    if (left < 0) break;
    shown.push(element);
  }
  return [...shown, { _truncated: true, _shown: shown.length, _total: list.length }];
}

import { cutText } from '../../lib/cut-text.ts';

/** The most that a model is shown of one result, as JSON. */
const MAX_BYTES = 65_536;
const ROOM_BYTES = 200;

/**
 * Cuts a result by its type, so that what is left can still be read: a text gets a suffix, a list keeps its first
 * elements and says how many there were, an object becomes the beginning of its JSON in an envelope.
 */
export function cutByType(value: unknown, maxBytes = MAX_BYTES): unknown {
  if (typeof value === 'string') {
    const { text, isTruncated } = cutText(value, maxBytes);
    if (!isTruncated) return value;
    return `${cutText(text, maxBytes - ROOM_BYTES).text}\n[cut at 64 KB of ${Buffer.byteLength(value)} bytes]`;
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

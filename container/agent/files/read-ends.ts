import { open, stat } from 'node:fs/promises';
import { cutText } from '../../../src/lib/cut-text.ts';

/** The share of a long file that is shown of its beginning; the newest notes are at its end. */
const HEAD_SHARE = 0.5;

/**
 * Returns a text file. If it is too long: its beginning and its end in whole lines, with a note on where to read the
 * rest. Null if there is nothing to read. Anything but a file counts as nothing: a pipe would never end.
 */
export async function readEnds(path: string, maxBytes: number): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) return null;
  const headBytes = found.size <= maxBytes ? maxBytes : Math.floor(maxBytes * HEAD_SHARE);
  const head = await bytesOf(path, 0, headBytes).catch(() => null);
  if (head === null) return null;
  if (found.size <= maxBytes) return head.toString().trim() || null;
  const tailBytes = maxBytes - headBytes;
  const tail = await bytesOf(path, found.size - tailBytes, tailBytes).catch(() => null);
  const beginning = wholeLines(cutText(head.toString(), headBytes).text);
  // The first line of the end is cut somewhere; a file of one endless line is shown all the same.
  const rest = (tail ?? Buffer.alloc(0)).toString().replace(/^\uFFFD+/, '');
  const end = rest.includes('\n') ? rest.slice(rest.indexOf('\n') + 1) : rest;
  const line = beginning.split('\n').length + 1;
  return [
    beginning.trim(),
    `[cut: ${found.size} bytes in all, the middle is left out here; read on with read_file from line ${line}]`,
    end.trim(),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function wholeLines(text: string): string {
  const end = text.lastIndexOf('\n');
  return end === -1 ? text : text.slice(0, end);
}

/** Reads a part of a file; less if the file ends before. */
export async function bytesOf(path: string, position: number, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

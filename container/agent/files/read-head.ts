import { stat } from 'node:fs/promises';
import { cutText } from '../../../src/lib/cut-text.ts';
import { bytesOf } from './read-ends.ts';

/**
 * Returns the beginning of a text file, with a note on where to read on if it is longer. Null if there is nothing to
 * read. Anything but a file counts as nothing: a pipe would never end.
 */
export async function readHead(path: string, maxBytes: number): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) return null;
  const bytes = await bytesOf(path, 0, maxBytes).catch(() => null);
  if (bytes === null) return null;
  const text = cutText(bytes.toString(), maxBytes).text.trim();
  if (text === '') return null;
  if (found.size <= maxBytes) return text;
  const lines = bytes.toString().split('\n').length;
  return `${text}\n\n[cut: ${found.size} bytes in all; read on with read_file from line ${lines}]`;
}

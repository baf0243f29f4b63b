import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FetchedAttachment } from '../channel.ts';
import { kindOf } from './file-kind.ts';

/**
 * Writes a fetched file into a folder, as the host expects it: named by its content, with the type found in its first
 * bytes.
 *
 * @param name the name that its sender gave it
 */
export function keepFetched(
  folder: string,
  content: Uint8Array,
  name: string | null,
): FetchedAttachment {
  const digest = createHash('sha256').update(content).digest('hex');
  const { mimeType, extension } = kindOf(content);
  const path = join(folder, `${digest}.${extension}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeWhole(path, content);
  return { path, mimeType, sizeBytes: content.length, name };
}

/** Deletes files of an earlier run, which a crash left before they were delivered. */
export function dropFetched(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

function writeWhole(path: string, content: Uint8Array): void {
  const temporary = `${path}.new-${process.pid}`;
  const handle = openSync(temporary, 'w', 0o600);
  try {
    writeSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, path);
}

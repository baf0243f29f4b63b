import type { Tree, TreeFile } from '@patchclaw/merge';

type Entry = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly isExecutable?: true;
};

/**
 * Returns files as one: a line of JSON that lists them by path, then their bytes in that order, unchanged. The
 * same files always give the same bytes.
 */
export function packFiles(files: Tree): Buffer {
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  const entries = sorted.map(([path, { bytes, isExecutable }]): Entry => {
    const entry = { path, sizeBytes: bytes.length };
    return isExecutable ? { ...entry, isExecutable } : entry;
  });
  const head = Buffer.from(`${JSON.stringify({ files: entries })}\n`);
  return Buffer.concat([head, ...sorted.map(([, { bytes }]) => bytes)]);
}

/** Returns the files that were packed; null where the bytes are not whole. Their paths are not checked. */
export function unpackFiles(bytes: Buffer): Tree | null {
  let at = bytes.indexOf('\n') + 1;
  const tree = new Map<string, TreeFile>();
  for (const { path, sizeBytes, isExecutable = false } of readEntries(
    bytes.toString('utf8', 0, at),
  )) {
    tree.set(path, { bytes: bytes.subarray(at, at + sizeBytes), isExecutable });
    at += sizeBytes;
  }
  return tree.size > 0 && at === bytes.length ? tree : null;
}

function readEntries(head: string): readonly Entry[] {
  try {
    const value: unknown = JSON.parse(head);
    const files = typeof value === 'object' && value !== null && 'files' in value && value.files;
    return Array.isArray(files) && files.every(isEntry) ? files : [];
  } catch {
    return []; // Damaged, which the caller says: these are no files.
  }
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  if (!('path' in value && 'sizeBytes' in value) || typeof value.path !== 'string') return false;
  if (typeof value.sizeBytes !== 'number' || !Number.isSafeInteger(value.sizeBytes)) return false;
  return value.sizeBytes >= 0 && (!('isExecutable' in value) || value.isExecutable === true);
}

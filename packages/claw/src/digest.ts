import { hash } from 'node:crypto';
import type { Tree, TreeFile } from '@patchclaw/merge';

/** A SHA-256 as `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

/** A file's content and mode as one comparable word: its digest, followed by ` +x` when executable. */
export type FileDigest = Digest | `${Digest} +x`;

/** Path → file digest, sorted by path; and one digest over all of it. */
export type TreeDigests = {
  readonly files: ReadonlyMap<string, FileDigest>;
  readonly digest: Digest;
};

export function digestBytes(bytes: Buffer | string): Digest {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

export function digestFile(file: TreeFile): FileDigest {
  const digest = digestBytes(file.bytes);
  return file.isExecutable ? `${digest} +x` : digest;
}

export function digestTree(tree: Tree): TreeDigests {
  return digestFiles([...tree].map(([path, file]) => [path, digestFile(file)]));
}

/** Returns the digest over a tree whose files' digests are known; order of the entries does not matter. */
export function digestFiles(entries: Iterable<readonly [string, FileDigest]>): TreeDigests {
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
  // A path cannot hold NUL, so no two trees give the same text.
  const text = sorted.map(([path, digest]) => `${path}\0${digest}\n`).join('');
  return { files: new Map(sorted), digest: digestBytes(text) };
}

import type { TreeFile } from '@patchclaw/merge';
import { type Digest, digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { treeReader } from '../installed/disk.ts';
import type { LayerTests } from './view.ts';

/** The files of a view, to be read without laying it out. */
export type ProofFiles = {
  readonly paths: readonly string[];
  readonly has: (path: string) => boolean;
  /** Null for what is not there, or cannot be read. */
  readonly read: (path: string) => Buffer | null;
  readonly digest: (path: string) => Digest | null;
};

/** Returns the planned tree with the tests of its layers, at the paths that they have in the view. */
export function proofFiles(input: {
  readonly root: string;
  readonly paths: readonly string[];
  readonly changed: ReadonlyMap<string, TreeFile | null>;
  readonly tests: readonly LayerTests[];
}): ProofFiles {
  const readDisk = treeReader(input.root);
  const brought = new Map<string, TreeFile | null>(input.changed);
  for (const { skill, files } of input.tests) {
    for (const [path, file] of files) {
      if (path.startsWith('tests/')) brought.set(testPath(skill, path), file);
    }
  }
  const all = new Set([...input.paths, ...brought.keys()]);
  for (const [path, file] of brought) if (file === null) all.delete(path);
  const bytes = new Map<string, Buffer | null>();
  const digests = new Map<string, Digest | null>();
  const load = (path: string): Buffer | null => {
    if (brought.has(path)) return brought.get(path)?.bytes ?? null;
    return (all.has(path) ? attempt(readDisk, path)?.bytes : null) ?? null;
  };
  const read = (path: string): Buffer | null => {
    const known = bytes.get(path);
    if (known !== undefined) return known;
    const found = load(path);
    bytes.set(path, found);
    return found;
  };
  return {
    paths: [...all].sort(),
    has: (path) => all.has(path),
    read,
    digest: (path) => {
      const known = digests.get(path);
      if (known !== undefined) return known;
      const content = bytes.has(path) ? read(path) : load(path);
      const digest = content === null ? null : digestBytes(content);
      digests.set(path, digest);
      return digest;
    },
  };
}

/** Returns the path of a layer's test in the view. */
export function testPath(skill: string, path: string): string {
  return `skills/${skill}/${path}`;
}

function attempt(read: (path: string) => TreeFile | null, path: string): TreeFile | null {
  try {
    return read(path);
  } catch (error) {
    if (error instanceof ClawError) return null; // Below a linked folder.
    throw error;
  }
}

import type { TreeFile } from '@patchclaw/merge';

/** Reads each file once: a plan must not see a file change under it. */
export function memoizeReads(
  read: (path: string) => TreeFile | null,
): (path: string) => TreeFile | null {
  const known = new Map<string, TreeFile | null>();
  return (path) => {
    const file = known.get(path);
    if (file !== undefined) return file;
    const fresh = read(path);
    known.set(path, fresh);
    return fresh;
  };
}

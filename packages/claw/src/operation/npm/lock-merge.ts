import { isDeepStrictEqual } from 'node:util';
import { isSameFile, type TreeFile, type Versions } from '@patchclaw/merge';

/**
 * Merges the lock that npm starts from, where both the release and the installation have changed it. Package
 * by package: the release's versions where it changed them, else the present ones. npm then completes it.
 */
export function mergeLocks({ base, ours, theirs }: Versions<TreeFile | null>): TreeFile | null {
  if (isSameFile(base, theirs) || ours === null) return ours ?? (base === null ? theirs : null);
  if (isSameFile(base, ours)) return theirs;
  const [before, present, next] = [base, ours, theirs].map(readLock);
  if (theirs === null || !present || !next) return ours;
  const packages: Record<string, unknown> = {};
  for (const path of new Set([...Object.keys(next.packages), ...Object.keys(present.packages)])) {
    const isOwn = !isDeepStrictEqual(present.packages[path], before?.packages[path]);
    const isMoved = !isDeepStrictEqual(next.packages[path], before?.packages[path]);
    const entry = isOwn && !isMoved ? present.packages[path] : next.packages[path];
    const chosen = isOwn ? (entry ?? present.packages[path]) : entry;
    if (chosen !== undefined) packages[path] = chosen;
  }
  const text = JSON.stringify({ ...next.rest, packages }, null, 2);
  return { bytes: Buffer.from(`${text}\n`), isExecutable: ours.isExecutable };
}

type Lock = {
  readonly rest: object;
  readonly packages: Readonly<Record<string, unknown>>;
};

/** Parses a lock; null for one of another form, which npm has to write again. */
function readLock(file: TreeFile | null): Lock | null {
  try {
    const parsed: unknown = JSON.parse(file?.bytes.toString('utf8') ?? 'null');
    if (!isObject(parsed)) return null;
    const { packages, ...rest } = parsed;
    return isObject(packages) ? { rest, packages } : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

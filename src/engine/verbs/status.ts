import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestFiles, digestTree, type FileDigest, type TreeDigests } from '../digest.ts';
import { readConfig } from '../state/config.ts';
import { BASE, readFolder } from '../state/kept.ts';
import { listProjectFiles } from '../state/listing.ts';
import { StatCache } from '../state/statCache.ts';
import { readState, type State } from '../state/stateFile.ts';
import { type EngineContext, resultOf, type VerbResult } from './context.ts';
import { readPending } from './pending.ts';

/** A file on disk that is not what the last command published. */
export type Edit = { readonly path: string; readonly kind: 'add' | 'modify' | 'delete' };

/** What is installed, what waits, and what the owner has changed since. */
export async function status({ root, now }: EngineContext): Promise<VerbResult> {
  const state = readState(root);
  const pending = readPending(root);
  if (state === null) {
    const data = { initialised: false, core: null, layers: [], edits: [], pending };
    return resultOf('status', 'done', { data });
  }
  const data = {
    initialised: true,
    core: state.core,
    layers: state.layers.map(({ name, version, source, installed }) => ({
      name,
      version,
      source,
      installed,
    })),
    edits: await findEdits(root, state, now),
    pending,
  };
  return resultOf('status', 'done', { data });
}

/** The owner's edits: disk against what was published. */
export async function findEdits(
  root: string,
  state: State,
  now: () => Date,
): Promise<readonly Edit[]> {
  const published = new Map(baseDigests(root, state).files);
  for (const [path, digest] of state.files) {
    if (digest === 'deleted') published.delete(path);
    else published.set(path, digest);
  }
  const cache = new StatCache(root, now);
  const edits: Edit[] = [];
  for (const path of await listProjectFiles(root, readConfig(root))) {
    const wanted = published.get(path);
    published.delete(path);
    if (path === 'package-lock.json') continue;
    const digest = cache.digest(path);
    if (digest !== null && digest !== wanted) {
      edits.push({ path, kind: wanted === undefined ? 'add' : 'modify' });
    }
  }
  for (const [path, wanted] of published) {
    // What is left is missing on disk, or lies where the listing does not look (groups/, skills/).
    const digest = cache.digest(path);
    if (digest !== wanted) edits.push({ path, kind: digest === null ? 'delete' : 'modify' });
  }
  cache.save();
  return edits.sort((one, other) => (one.path < other.path ? -1 : 1));
}

const CACHE = '.claw/cache/base.json';

/** Digests of the core's files: from the cache where it adds up to the pinned digest, else from `base/`. */
function baseDigests(root: string, state: State): TreeDigests {
  const path = join(root, CACHE);
  if (existsSync(path)) {
    try {
      const cached = JSON.parse(readFileSync(path, 'utf8')) as Record<string, FileDigest>;
      const digests = digestFiles(Object.entries(cached));
      if (digests.digest === state.core.digest) return digests;
    } catch {
      // A torn cache is made again below.
    }
  }
  const digests = digestTree(readFolder(root, BASE));
  try {
    mkdirSync(join(root, '.claw/cache'), { recursive: true });
    writeFileSync(path, JSON.stringify(Object.fromEntries(digests.files)));
  } catch {
    // Read-only or full: it is made again next time.
  }
  return digests;
}

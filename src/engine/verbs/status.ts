import { readBaseDigests, saveBaseDigests } from '../state/base-digests.ts';
import { readConfig } from '../state/config.ts';
import { listProjectFiles } from '../state/listing.ts';
import { findRelease } from '../state/release.ts';
import { StatCache } from '../state/stat-cache.ts';
import { readState, type State } from '../state/state-file.ts';
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
  const config = readConfig(root);
  const kept = readBaseDigests(root, state.core);
  if (kept !== null) saveBaseDigests(root, kept);
  const base = kept ?? (await findRelease(root, config, state)).digests;
  const published = new Map(base.files);
  for (const [path, digest] of state.files) {
    if (digest === 'deleted') published.delete(path);
    else published.set(path, digest);
  }
  const cache = new StatCache(root, now);
  const edits: Edit[] = [];
  for (const path of await listProjectFiles(root, config)) {
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

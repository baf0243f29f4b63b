import {
  type Blamed,
  blameStep,
  blameWhole,
  CORE_OWNER,
  type Owner,
} from '../../compose/blame/blame.ts';
import { type Account, blameComposed, lastOwner } from '../../compose/blame/blame-composed.ts';
import { compose } from '../../compose/compose.ts';
import { findKind } from '../../compose/files/structured-file.ts';
import { conflictFile, OWNER } from '../../conflict.ts';
import { ClawError } from '../../errors.ts';
import { KEPT_LOCK } from '../../installed/claw-folder.ts';
import { readTreeFile } from '../../installed/disk.ts';
import {
  type Installation,
  readInstallation,
  readInstalledPackages,
} from '../../installed/installation.ts';
import { readState } from '../../installed/state-file.ts';
import { orderLayers } from '../../package/order.ts';

/** An owner, as `why` and `verify` report it. */
export type OwnerReport = {
  readonly owner: string;
  readonly kind: 'core' | 'skill' | 'customisation' | 'resolution' | 'edit';
  readonly version?: string | null;
  readonly description?: string;
  /** The recording, by its key. */
  readonly key?: string;
  /** The two layers between which it decided; or the skills that declare a line together. */
  readonly layers?: readonly string[];
  /** The author of the decision: `owner`, or a model. */
  readonly origin?: string | null;
};

const LOCK = 'package-lock.json';

/**
 * Reads the installation, for a verb that needs one.
 *
 * @throws ClawError NOT_INITIALISED
 */
export async function requireInstallation(root: string): Promise<Installation> {
  // Without a state there is no core yet, and finding one would read every file.
  if (readState(root) !== null) return await readInstallation(root);
  throw new ClawError('NOT_INITIALISED', 'No skills yet. Add one: `claw apply <skill>`');
}

/** Composes what is installed, with everything that answers a question about it. */
export function accountFor(installation: Installation): Account {
  const layers = orderLayers(readInstalledPackages(installation));
  const { releaseFile, pathMaps, resolutions } = installation;
  const answers = { decisions: [], resolutions };
  const composition = compose({ release: releaseFile, layers, answers, pathMaps });
  return { composition, layers, resolutions };
}

/**
 * Attributes each line of a file as the last command published it. Where this engine would compose other
 * bytes, the published ones count, and the differing lines belong to the layers of that file.
 *
 * @param account called only for a file that layers touch
 */
export function blamePublished(
  installation: Installation,
  path: string,
  account: () => Account,
): Blamed {
  const { state, releaseFile, publishedFile } = installation;
  if (path === LOCK) return blameLock(installation, account);
  if (state === null || !state.files.has(path)) return blameWhole(releaseFile(path), CORE_OWNER);
  const made = account();
  const composed = made.composition.files.get(path);
  const before = composed
    ? blameComposed(made, path, composed)
    : blameWhole(releaseFile(path), CORE_OWNER);
  const names = suspectsOf(installation, path, made);
  const owner: Owner = { kind: 'layers', names };
  const kind = findKind(path, releaseFile);
  return blameStep(kind, before, { after: publishedFile(path), owner: () => owner });
}

/** Returns the owner of a published deletion, or of a published file as a whole. */
export function publisherOf(installation: Installation, path: string, account: Account): Owner {
  const composed = account.composition.files.get(path);
  if (composed && composed.file === null) return lastOwner(account, composed);
  return { kind: 'layers', names: suspectsOf(installation, path, account) };
}

/** Returns the layers that may have made a file what this engine would not make of it. */
function suspectsOf(
  { state }: Installation,
  path: string,
  { composition }: Account,
): readonly string[] {
  const applied = state?.layers.map(({ name }) => name) ?? [];
  const touching = composition.files.get(path)?.layers ?? [];
  const disagreeing = composition.conflicts
    .filter((conflict) => conflictFile(conflict) === path)
    .flatMap(({ layers }) => layers);
  const suspects = applied.filter((name) => [...touching, ...disagreeing].includes(name));
  return suspects.length > 0 ? suspects : applied;
}

/** Names an owner in full. */
export function describeOwner(
  owner: Owner,
  { state, coreVersion }: Installation,
  account: () => Account,
): OwnerReport {
  if (owner.kind === 'core') return { owner: 'core', kind: 'core', version: coreVersion };
  if (owner.kind === 'edit') return { owner: OWNER, kind: 'edit' };
  if (owner.kind === 'resolution') {
    const { key, layers, origin } = owner;
    return { owner: 'resolution', kind: 'resolution', key, layers, origin };
  }
  const { names } = owner;
  const [name = ''] = names;
  const layer = state?.layers.find((one) => one.name === name);
  const kind = layer?.kind ?? 'skill';
  if (names.length !== 1) return { owner: names.join(', '), kind, layers: names };
  const made = account().layers.find(({ manifest }) => manifest.skill === name);
  const description = made?.manifest.description ?? '';
  return { owner: name, kind, version: layer?.version ?? null, description };
}

/**
 * Attributes the lines of npm's lock: those that the release lacks are there for the layers that want
 * packages.
 */
function blameLock({ root, releaseFile }: Installation, account: () => Account): Blamed {
  const released = blameWhole(releaseFile(LOCK), CORE_OWNER);
  const kept = readTreeFile(root, KEPT_LOCK);
  if (kept === null) return released;
  const names = account().composition.files.get('package.json')?.layers ?? [];
  const owner: Owner = { kind: 'layers', names };
  return blameStep('lock', released, { after: kept, owner: () => owner });
}

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Decision, ResolvedConflict } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import type { Digest } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { stateDigest } from '../installed/state-file.ts';
import { layOutConflict, markedText } from './files.ts';
import { OPERATION, PENDING, type Pending, readPending, sealPending } from './pending.ts';
import { readConflicts, readDecisions, writeConflicts, writeDecisions } from './store.ts';

/** The data for planning a blocked operation again. */
export type BlockedOperation = {
  readonly verb: string;
  readonly arguments: readonly string[];
  readonly options: Readonly<Record<string, string | null>>;
  /** The folder that its relative folders start from. */
  readonly cwd: string;
  readonly allow: readonly string[];
  readonly state: Digest | null;
  /** The decisions made so far. */
  readonly decisions: readonly Decision[];
};

/** A waiting operation with its conflicts whole, and what was decided on them. */
export type Waiting = {
  readonly pending: Pending;
  readonly conflicts: readonly Conflict[];
  readonly decisions: readonly Decision[];
};

/** Returns the operation that waits with everything that was laid out with it, or null. */
export function readWaiting(root: string): Waiting | null {
  const pending = readPending(root);
  if (pending === null) return null;
  const folder = join(root, PENDING);
  return { pending, conflicts: readConflicts(folder), decisions: readDecisions(folder) };
}

/**
 * Lays a blocked operation out under `.claw/pending/`: what it was, and for each conflict the three
 * sides, the text with markers and the intent notes. Replaces what waited there.
 *
 * @param notes what the authors of the two sides wrote about the file, or null
 */
export function writePending(
  root: string,
  { decisions, ...operation }: BlockedOperation,
  conflicts: readonly Conflict[],
  notes: (conflict: Conflict) => string | null = () => null,
): void {
  const folder = join(root, PENDING);
  // A folder that git ignores, in case of a kill, and on the same device.
  const draft = join(root, '.claw/cache', `pending-${process.pid}`);
  const former = `${draft}.former`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  for (const conflict of conflicts) layOutConflict(draft, conflict, notes(conflict));
  const described = conflicts.map(({ path, kind, layers, reason }) => ({
    path,
    kind,
    layers: [...layers],
    reason,
  }));
  const text = JSON.stringify({ ...operation, conflicts: described }, null, 2);
  writeFileSync(join(draft, OPERATION), `${text}\n`);
  sealPending(root, draft);
  writeConflicts(draft, conflicts);
  keepEdited(folder, draft, conflicts);
  writeDecisions(draft, decisions);
  // Two renames, so that a kill finds one of the two whole, but for the moment between them.
  rmSync(former, { recursive: true, force: true });
  if (existsSync(folder)) renameSync(folder, former);
  renameSync(draft, folder);
  rmSync(former, { recursive: true, force: true });
}

/** Keeps texts that the owner has begun to resolve by hand. */
function keepEdited(folder: string, draft: string, conflicts: readonly Conflict[]): void {
  if (!existsSync(folder)) return;
  const before = attemptConflicts(folder);
  for (const conflict of conflicts) {
    const known = before.find(({ path }) => path === conflict.path);
    const marked = markedText(conflict);
    const place = join(folder, conflict.path);
    if (marked === null || !known || markedText(known)?.equals(marked) !== true) continue;
    if (existsSync(place)) copyFileSync(place, join(draft, conflict.path));
  }
}

function attemptConflicts(folder: string): readonly Conflict[] {
  try {
    return readConflicts(folder);
  } catch (error) {
    if (error instanceof ClawError) return []; // Damaged, so nothing of it is known to be kept.
    throw error;
  }
}

/**
 * Joins open conflicts with decided ones, which can be decided otherwise until they are carried out. If a
 * path has both, only the open conflict counts: the decision brought it up.
 */
export function withDecided(
  open: readonly Conflict[],
  resolvedConflicts: readonly ResolvedConflict[],
): readonly Conflict[] {
  const decided = resolvedConflicts.flatMap(({ conflict, decision }) =>
    decision ? [conflict] : [],
  );
  const all = [...open, ...decided];
  return all.filter(({ path }, at) => all.findIndex((one) => one.path === path) === at);
}

/** Tells whether the waiting operation holds decisions, or texts that the owner began to edit. */
export function hasDecisions(root: string): boolean {
  const folder = join(root, PENDING);
  if (readDecisions(folder).length > 0 || readPending(root)?.options['moved'] != null) return true;
  return attemptConflicts(folder).some((conflict) => {
    const marked = markedText(conflict);
    const place = join(folder, conflict.path);
    return marked !== null && existsSync(place) && !readFileSync(place).equals(marked);
  });
}

/** Keeps what is decided so far with the operation that waits. */
export function saveDecisions(root: string, decisions: readonly Decision[]): void {
  writeDecisions(join(root, PENDING), decisions);
}

/** @throws ClawError STATE_CHANGED where it was planned on another `state.yaml` than the present one */
export function refuseOtherState(root: string, { pending }: Waiting): void {
  if (pending.state === stateDigest(root)) return;
  throw new ClawError(
    'STATE_CHANGED',
    `"${[pending.verb, ...pending.arguments].join(' ')}" was planned on another .claw/state.yaml than ` +
      'the one here. Switch back to its branch, or claw abort and run it again.',
    { path: '.claw/state.yaml' },
  );
}

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { z } from 'zod';
import type { Decision, ResolvedConflict } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import type { Digest } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { parseDecision, renderDecision } from '../installed/resolution-file.ts';
import { stateDigest } from '../installed/state-file.ts';
import { layOutConflict, markedText } from './files.ts';
import { OPERATION, PENDING, type Pending, readPending, sealPending } from './pending.ts';

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

const CONFLICTS = '.claw-conflicts.json';
const DECISIONS = '.claw-decisions';

const Lines = z.array(z.string());
const WaitingFile = z
  .object({ base64: z.base64(), isExecutable: z.boolean() })
  .nullable()
  .transform(
    (file): TreeFile | null =>
      file && { bytes: Buffer.from(file.base64, 'base64'), isExecutable: file.isExecutable },
  );
const Sides = z.object({ base: WaitingFile, ours: WaitingFile, theirs: WaitingFile });
const Hunk = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('resolved'), lines: Lines }),
  z.object({ kind: z.literal('conflict'), base: Lines, ours: Lines, theirs: Lines }),
]);
const Conflicts = z.array(
  z.object({
    path: z.string(),
    kind: z.enum(['content', 'add-add', 'modify-delete', 'binary', 'structured']),
    layers: z.tuple([z.string(), z.string()]),
    authors: Lines.optional(),
    others: Lines.optional(),
    reason: z.string(),
    hunks: z.array(Hunk),
    sides: Sides,
    values: z.object({ base: z.unknown(), ours: z.unknown(), theirs: z.unknown() }).nullable(),
    candidates: z.array(z.string()).default([]),
  }),
);

/** Keeps conflicts as they were planned, so that deciding needs no planning. */
function writeConflicts(folder: string, conflicts: readonly Conflict[]): void {
  const plain = conflicts.map(({ sides: { base, ours, theirs }, ...rest }) => ({
    ...rest,
    sides: { base: plainFile(base), ours: plainFile(ours), theirs: plainFile(theirs) },
  }));
  writeFileSync(join(folder, CONFLICTS), JSON.stringify(plain));
}

/** @throws ClawError IO_FAILED for a folder that was changed by hand */
function readConflicts(folder: string): readonly Conflict[] {
  try {
    return Conflicts.parse(JSON.parse(readFileSync(join(folder, CONFLICTS), 'utf8'))).map(
      ({ values, ...conflict }) => ({
        ...conflict,
        values: values && { base: values.base, ours: values.ours, theirs: values.theirs },
      }),
    );
  } catch (cause) {
    throw damaged(CONFLICTS, cause);
  }
}

function writeDecisions(folder: string, decisions: readonly Decision[]): void {
  const below = join(folder, DECISIONS);
  const draft = `${below}.new`;
  if (decisions.length === 0) {
    rmSync(below, { recursive: true, force: true });
    return;
  }
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  for (const [index, { amended, ...answered }] of decisions.entries()) {
    writeFileSync(join(draft, `${index}.yaml`), renderDecision(answered));
    if (amended) writeFileSync(join(draft, `${index}.text`), amended);
  }
  // Writes all or nothing: a half-written decision would look like one that was changed by hand.
  rmSync(below, { recursive: true, force: true });
  renameSync(draft, below);
}

/** @throws ClawError RESOLUTION_INVALID for one that was changed into something else */
function readDecisions(folder: string): readonly Decision[] {
  const below = join(folder, DECISIONS);
  if (!existsSync(below)) return [];
  const names = readdirSync(below).filter((name) => name.endsWith('.yaml'));
  return names.map((name) => {
    const answered = parseDecision(
      readFileSync(join(below, name)),
      `.claw/pending/${DECISIONS}/${name}`,
    );
    const text = join(below, name.replace(/yaml$/, 'text'));
    return { ...answered, amended: existsSync(text) ? readFileSync(text) : null };
  });
}

function plainFile(file: TreeFile | null) {
  return file && { base64: file.bytes.toString('base64'), isExecutable: file.isExecutable };
}

function damaged(name: string, cause: unknown): ClawError {
  return new ClawError(
    'IO_FAILED',
    `.claw/pending/${name} cannot be read. Run claw abort, then the command again.`,
    { path: `.claw/pending/${name}`, cause },
  );
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

import type { VerbResult } from '../contract/result.ts';
import { ClawError } from '../errors.ts';
import { stateDigest } from '../installed/state-file.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import {
  isPendingForeign,
  operationPending,
  readPending,
  restorePending,
} from '../pending/pending.ts';
import { sweepViews } from '../proof/view.ts';
import type { Recovery } from '../transaction/journal.ts';
import { linkRefused, withLock } from '../transaction/lock.ts';
import { hasPending, linkInOwnFolder, liveHolder, recover } from '../transaction/recover.js';
import type { EngineContext } from './context.ts';

/**
 * Runs a verb that changes things: alone, after finishing the work of a killed command. If the tree is edited
 * between plan and commit, it plans again.
 *
 * @throws ClawError LOCK_HELD, RECOVERY_NEEDS_DECISION
 */
export async function runExclusive<T extends Pick<VerbResult, 'warnings'>>(
  context: EngineContext,
  verb: string,
  work: () => Promise<T>,
): Promise<T> {
  return await withLock(context.root, { verb }, async () => {
    const notes = recoverFirst(context, true);
    sweepViews(context.root);
    throwIfInterrupted(context.signal);
    restorePending(context.root);
    await refuseWaiting(context.root, verb);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await work();
        return { ...result, warnings: [...notes, ...result.warnings, ...leftOver(context.root)] };
      } catch (error) {
        const isStale = error instanceof ClawError && error.code === 'TREE_CHANGED';
        if (!isStale || attempt === 3) throw error;
        context.onProgress({
          kind: 'note',
          text: `${error.path} was edited meanwhile; planning again`,
        });
      }
    }
  });
}

/**
 * Runs a verb that only reads: without the lock, again if the state changed under it.
 */
export async function runReadOnly<T extends Pick<VerbResult, 'warnings'>>(
  context: EngineContext,
  work: () => Promise<T>,
): Promise<T> {
  const link = linkInOwnFolder(context.root);
  if (link !== null) throw linkRefused(link);
  const notes = hasPending(context.root) ? recoverFirst(context, false) : [];
  for (let attempt = 1; ; attempt += 1) {
    const before = stateDigest(context.root);
    const result = await work();
    if (stateDigest(context.root) === before || attempt === 3) {
      const running = [...runningCommand(context.root), ...foreignOperation(context.root)];
      return { ...result, warnings: [...notes, ...running, ...result.warnings] };
    }
  }
}

/** Warns of an unfinished transaction that a failing disk leaves to the next command. */
function leftOver(root: string): readonly string[] {
  if (!hasPending(root)) return [];
  return [
    'The disk failed towards the end. The change is decided, and the next claw command finishes and tidies ' +
      'what is left of it: make sure first that the disk works and has room.',
  ];
}

/** Verbs that deal with an operation that waits, or that it cannot get in the way of; none of them ever waits. */
const FREE_VERBS = ['continue', 'resolve', 'abort', 'resolutions'];

/**
 * Refuses a verb while another operation waits. A waiting operation may be replaced unless it holds
 * decisions; an update is never begun on top of one.
 */
async function refuseWaiting(root: string, verb: string): Promise<void> {
  if (FREE_VERBS.includes(verb)) return;
  const pending = readPending(root);
  if (pending === null && isPendingForeign(root)) {
    const { hasDecisions } = await import('../pending/waiting.ts');
    if (hasDecisions(root)) throw new ClawError('OPERATION_PENDING', FOREIGN_OPERATION);
    return;
  }
  // It takes back what is installed, whatever waits: but not a second time.
  if (pending === null || (verb === 'undo' && pending.verb !== verb)) return;
  // Loaded where something waits: it knows how conflicts are laid out.
  const { hasDecisions } = await import('../pending/waiting.ts');
  if (verb !== 'update' && !hasDecisions(root)) return;
  throw operationPending(pending);
}

const FOREIGN_OPERATION =
  '.claw/pending has an operation that claw did not begin in this folder, so it is not carried out. ' +
  'claw abort forgets it. If the folder is your own, moved or copied, claw recover --adopt makes it count.';

function foreignOperation(root: string): readonly string[] {
  return isPendingForeign(root) ? [FOREIGN_OPERATION] : [];
}

function runningCommand(root: string): readonly string[] {
  const holder = liveHolder(root);
  if (holder === null || holder.pid === process.pid) return [];
  const name = `claw ${holder.verb} (pid ${holder.pid})`;
  return [`${name} is running; this is the tree as it is meanwhile.`];
}

function recoverFirst(context: EngineContext, isLocked: boolean): readonly string[] {
  const recovery = recover(context.root, null, { isLocked, timeoutMs: 0 });
  if (recovery.outcome === 'nothing') return [];
  if (recovery.outcome === 'needs-decision') {
    // A verb that only looks goes on: nothing of a foreign journal was carried out, so there is nothing half done.
    if (recovery.reason === 'foreign' && !isLocked) return [needsDecision(recovery).message];
    throw needsDecision(recovery);
  }
  // The holder of the lock finishes it, and the caller reports the holder.
  if (recovery.outcome === 'locked') return [];
  const way = recovery.outcome === 'rolled-forward' ? 'finished' : 'taken back';
  return [`An interrupted command was ${way} first.`];
}

/** Advice for a journal that was not written by this project. */
export const FOREIGN_ADVICE =
  'If the folder came from somebody else, run claw recover --keep-mine: it sets the journal aside and changes ' +
  'no file. If the folder is your own and was moved, copied or restored, or the command ran as another user or ' +
  'by an older claw, run claw recover --adopt: it finishes the command.';

/** Makes the error that stops every verb until the owner has decided. */
export function needsDecision({ id, kept, reason }: Recovery): ClawError {
  if (reason === 'foreign') {
    return new ClawError(
      'RECOVERY_NEEDS_DECISION',
      `.claw/tx/${id} is the journal of an interrupted command that claw did not write in this folder, on this ` +
        `machine. Nothing of it was carried out. ${FOREIGN_ADVICE}`,
      { path: `.claw/tx/${id}`, data: { kept, reason } },
    );
  }
  const why = {
    edited: `met your own edits in ${kept.join(', ')}`,
    'state-changed': 'was made for another .claw/state.yaml than the one here (another branch?)',
    'journal-damaged': 'left a journal that cannot be read',
  };
  return new ClawError(
    'RECOVERY_NEEDS_DECISION',
    `An interrupted command ${why[reason ?? 'edited']}. ` +
      'Run claw recover with --keep-mine, --roll-forward or --roll-back.',
    { path: kept[0] ?? null, data: { kept, reason } },
  );
}

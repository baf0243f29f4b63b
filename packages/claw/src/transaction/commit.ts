import * as fs from 'node:fs';
import { join } from 'node:path';
import { ClawError } from '../errors.ts';
import type { Journal } from './journal.ts';
import {
  discard,
  finish,
  journalText,
  publish,
  syncPath,
  takeBack,
  takenIds,
  turnBack,
} from './recover.js';
import { type StagedChange, stage, treeChanged, writeSynced } from './stage.ts';

export type { StagedChange } from './stage.ts';

/**
 * Makes a change of the project happen as a whole or not at all, whenever this process ends.
 *
 * The caller holds the lock and has recovered. It returns if and only if the next command finds the tree *after*, and
 * throws if the next command finds it *before*. If the disk stays broken, the next command may have to finish it in
 * the same direction. Synchronous, so that none of our code runs in between.
 *
 * @returns `isEnded`: false where the disk refused the end, so that what the transaction keeps is needed
 * @throws ClawError TREE_CHANGED where a target is not what the step expects (plan again);
 *   LINK_REFUSED; IO_FAILED with its cause; RECOVERY_NEEDS_DECISION where the disk refused the way back
 *   from a target that was edited meanwhile
 */
export function commitSteps(
  root: string,
  change: StagedChange,
  options: { readonly now?: () => Date } = {},
): { readonly id: string; readonly isEnded: boolean } {
  const id = nextId(root, change.verb);
  const committedAt = (options.now ?? (() => new Date()))().toISOString();
  const journal = prepare(root, id, change, committedAt);
  try {
    syncPath(join(root, '.claw/tx', id));
    publishAll(root, journal);
  } catch (error) {
    if (!isTurned(root, id)) return { id, isEnded: goOn(root, journal, error) };
    throw takenBack(root, journal, error);
  }
  return { id, isEnded: end(root, id) };
}

/** Stages everything; the rename at the end is the point from which on the change happens. */
function prepare(root: string, id: string, change: StagedChange, committedAt: string): Journal {
  try {
    const journal = stage(root, id, change, committedAt);
    const path = join(root, '.claw/tx', id, 'journal.json');
    writeSynced(`${path}.new`, journalText(root, journal));
    fs.renameSync(`${path}.new`, path);
    return journal;
  } catch (error) {
    try {
      discard(root, id);
    } catch {
      // Without a journal it is only litter, which the next recovery sweeps.
    }
    throw asClawError(error, 'Nothing was changed.');
  }
}

function publishAll(root: string, journal: Journal): void {
  publish(root, journal, (step) => {
    throw treeChanged(step.path);
  });
}

/** @returns whether it ended; what is left is a rename, which recovery makes up for */
function end(root: string, id: string): boolean {
  try {
    finish(root, id);
    return true;
  } catch {
    return false;
  }
}

/** Tells whether the transaction goes back from here on. */
function isTurned(root: string, id: string): boolean {
  try {
    turnBack(root, id);
    return true;
  } catch {
    return false; // The journal stands as it was, so recovery goes forward.
  }
}

/** Takes back what was published before an error, as far as the disk lets it. */
function takenBack(root: string, journal: Journal, error: unknown): ClawError {
  try {
    takeBack(root, journal, false);
    return asClawError(error, 'Everything is as it was before.');
  } catch (cause) {
    const message =
      'The disk failed while publishing, and again on the way back. The next claw command puts back ' +
      'what is left: make sure first that the disk works and has room.';
    return new ClawError('IO_FAILED', message, { data: { first: String(error) }, cause });
  }
}

/**
 * Tries once more where a rollback failed, in case the fault was momentary. Whatever the outcome, the journal
 * stays, so the next command finishes the rest.
 *
 * @returns whether it ended
 */
function goOn(root: string, journal: Journal, error: unknown): boolean {
  try {
    if (isEdit(error)) throw error;
    publishAll(root, journal);
  } catch (cause) {
    if (!isEdit(cause)) return false;
    const message =
      `${cause.path} was edited while it was published, and the disk refused the way back. ` +
      'Run claw recover with --keep-mine, --roll-forward or --roll-back.';
    const { path } = cause;
    throw new ClawError('RECOVERY_NEEDS_DECISION', message, { path, cause });
  }
  return end(root, journal.id);
}

function isEdit(error: unknown): error is ClawError {
  return error instanceof ClawError && error.code === 'TREE_CHANGED';
}

function asClawError(error: unknown, outcome: string): ClawError {
  if (error instanceof ClawError) return error;
  const { code, path, dest } = error as { code?: string; path?: string; dest?: string };
  const place = dest ?? path ?? null;
  const remedy =
    code === 'ENOSPC' || code === 'EDQUOT' ? ' Make room on the disk and try again.' : '';
  const message = `Could not write${place === null ? '' : ` ${place}`} (${code}). ${outcome}${remedy}`;
  return new ClawError('IO_FAILED', message, { path: place, data: { code }, cause: error });
}

/** Makes the id of a new transaction. Numbers count up whatever the clock does, so that names sort by age. */
function nextId(root: string, verb: string): string {
  const ids = ['tx', 'backup'].flatMap((folder) => takenIds(root, `.claw/${folder}`));
  const last = Math.max(0, ...ids.map((id) => Number.parseInt(id, 10)));
  const name = verb.toLowerCase().replace(/[^a-z]+/g, '-');
  return `${String(last + 1).padStart(6, '0')}-${name}`;
}

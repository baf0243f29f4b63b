import * as fs from 'node:fs';
import { join } from 'node:path';
import { ClawError } from '../errors.ts';
import type { Journal } from './journal.ts';
import { discard, publish, syncPath, takeBack, transactionIds, turnBack } from './recover.js';
import { type Change, journalText, stage, treeChanged, writeSynced } from './stage.ts';

export type { Change } from './stage.ts';

/**
 * Makes a change of the project happen as a whole or not at all, whatever ends this process.
 *
 * The caller holds the lock and has recovered. Returns exactly when the tree is *after*; throws
 * exactly when it is *before*, apart from a disk that refuses the way back as well, which leaves
 * the journal for the next command. Synchronous, so that nothing of ours runs in between.
 *
 * @throws ClawError TREE_CHANGED where a target is not what the step expects (plan again);
 *   LINK_REFUSED; IO_FAILED with its cause, and `data.isUnfinished` if recovery has to go on
 */
export function commitSteps(
  root: string,
  change: Change,
  options: { readonly now?: () => Date } = {},
): { readonly id: string } {
  const id = nextId(root, change.verb);
  const committedAt = (options.now ?? (() => new Date()))().toISOString();
  const journal = prepare(root, id, change, committedAt);
  try {
    syncPath(join(root, '.claw/tx', id));
    publish(root, journal, (step) => {
      throw treeChanged(step.path);
    });
  } catch (error) {
    throw rolledBack(root, journal, error);
  }
  return { id };
}

/** Stages everything; the rename at the end is the point from which on the change happens. */
function prepare(root: string, id: string, change: Change, committedAt: string): Journal {
  try {
    const journal = stage(root, id, change, committedAt);
    const path = join(root, '.claw/tx', id, 'journal.json');
    writeSynced(`${path}.new`, journalText(journal));
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

function rolledBack(root: string, journal: Journal, error: unknown): ClawError {
  try {
    turnBack(root, journal.id);
    takeBack(root, journal, false);
    return asClawError(error, 'Everything is as it was before.');
  } catch (cause) {
    const message =
      'The disk failed while publishing, and again on the way back. Run claw recover.';
    return new ClawError('IO_FAILED', message, {
      data: { isUnfinished: true, first: String(error) },
      cause,
    });
  }
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

/** Numbers go up whatever the clock does, so that names sort by age. */
function nextId(root: string, verb: string): string {
  const ids = ['tx', 'backup'].flatMap((folder) => transactionIds(join(root, '.claw', folder)));
  const last = Math.max(0, ...ids.map((id) => Number.parseInt(id, 10)));
  const name = verb.toLowerCase().replace(/[^a-z]+/g, '-');
  return `${String(last + 1).padStart(6, '0')}-${name}`;
}

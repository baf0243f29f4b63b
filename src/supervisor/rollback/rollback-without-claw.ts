import { existsSync } from 'node:fs';
import { join } from 'node:path';
// Loaded when the supervisor starts, so it is that of the tree that worked, whatever is published later.
import {
  readJournal,
  recover,
  rollBack,
  transactionIds,
} from '../../../packages/claw/src/transaction/recover.js';

/** Result of taking a change back, or the reason why that failed. */
export type Rollback = { readonly ok: true } | { readonly ok: false; readonly message: string };

/**
 * Takes back the last transaction where claw itself cannot. All or nothing: one file that was edited since
 * stops it.
 *
 * @param reason why claw does not run, for the message
 */
export function takeBackWithoutClaw(projectDir: string, reason: string): Rollback {
  const failed = (why: string): Rollback => ({
    ok: false,
    message: `claw itself does not run (${reason}), and ${why}`,
  });
  try {
    const { outcome, verb } = recover(projectDir);
    // claw's own undo was nearly done: the change before it is not meant.
    if (outcome === 'rolled-forward' && verb === 'undo') return { ok: true };
    if (outcome === 'locked') return failed('another claw command is at work.');
    if (outcome === 'needs-decision') {
      return failed('an interrupted command met edits of yours: decide with `npx claw recover`.');
    }
    const kept = '.claw/backup';
    const id = transactionIds(projectDir, kept).findLast((one) =>
      existsSync(join(projectDir, kept, one, 'record.json')),
    );
    if (id === undefined) return failed('nothing is kept in .claw/backup to go back to.');
    // Its record goes last of all: one that is there was cut off when the tree was as before already.
    if (readJournal(projectDir, `${kept}/${id}/record.json`)?.verb === 'undo') return { ok: true };
    const taken = rollBack(projectDir, id);
    if (taken.outcome === 'rolled-back') return { ok: true };
    if (taken.outcome === 'locked') return failed('another claw command is at work.');
    return failed(
      `these were changed since: ${taken.differs.join(', ')}. What they were is kept in .claw/backup/${id}.`,
    );
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

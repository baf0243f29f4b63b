// Loaded when the supervisor starts, so it is that of the tree that worked, whatever is published later.
import { hasPending, recover } from '../../packages/claw/src/transaction/recover.js';
import type { Log } from './log/log.ts';

/**
 * Finishes the work of a killed claw command, or one whose disk failed, before the assistant starts: it would
 * come up on a mixed tree. Never throws: the next command tries again.
 *
 * @returns a note for the owner, or null
 */
export function finishInterrupted(projectDir: string, log: Log): string | null {
  try {
    if (!hasPending(projectDir)) return null;
    const { outcome, verb, kept, reason } = recover(projectDir);
    log.info('a claw command was interrupted', { outcome, verb, kept });
    if (outcome !== 'needs-decision') return null;
    if (reason === 'foreign') {
      return 'An interrupted command was not begun in this folder, so it was not finished: `npx claw status` says what to do.';
    }
    const files = kept.length === 0 ? '' : ` (${kept.join(', ')})`;
    return `An interrupted command met edits of yours${files}: decide with \`npx claw recover\`.`;
  } catch (error) {
    log.error('an interrupted claw command could not be finished', { error: String(error) });
    return 'An interrupted command could not be finished: `npx claw status` says why.';
  }
}

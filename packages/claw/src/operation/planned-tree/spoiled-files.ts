import { tellFault } from '@patchclaw/merge';
import { answeredFile, answerFault } from '../../compose/answer.ts';
import type { Decision, ResolvedConflict } from '../../compose/resolve-conflict.ts';
import type { Conflict } from '../../conflict.ts';
import { ClawError, shellWord } from '../../errors.ts';

/**
 * Refuses a decision after which a file no longer parses although both sides do, or has a name twice that no input
 * has twice. The whole file is checked: a resolution may clash with lines that only the other side has.
 *
 * @throws ClawError RESOLUTION_INVALID, with the line in `data.line`
 */
export function refuseSpoiled(
  conflict: Conflict,
  { answer, amended }: Pick<Decision, 'answer' | 'amended'>,
): void {
  if (answer.kind === 'value') return;
  const file = answeredFile(conflict, answer);
  const fault = answerFault(conflict, file && amended ? { ...file, bytes: amended } : file);
  if (fault === null) return;
  const { path } = conflict;
  const others = fault.kind === 'syntax' ? 'Both sides do.' : 'No side has.';
  throw new ClawError(
    'RESOLUTION_INVALID',
    `What resolves ${path} ${tellFault(fault)}. ${others} Decide otherwise, or fix the whole text, ` +
      `outside the conflict too: claw resolve ${shellWord(path)} --with FILE takes it.`,
    { path, data: { line: fault.line } },
  );
}

/** Checks earlier decisions again when they are about to be carried out. */
export function refuseSpoiledDecisions(resolvedConflicts: readonly ResolvedConflict[]): void {
  for (const { conflict, answer, decision } of resolvedConflicts) {
    if (decision !== null) refuseSpoiled(conflict, { answer, amended: decision.amended });
  }
}

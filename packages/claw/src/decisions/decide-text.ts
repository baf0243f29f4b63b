import type { Hunk } from '@patchclaw/merge';
import { answeredFile, answerFault } from '../compose/answer.ts';
import { extractAnswers } from '../compose/extract-answer.ts';
import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import type { Answer } from '../installed/resolution.ts';
import { leftMarkers } from '../pending/files.ts';

/** The answer in a finished text, and the text itself where it has changes outside the hunks as well. */
export type DecidedText = { readonly answer: Answer; readonly amended: Buffer | null };

/**
 * Reads a finished text of a whole file as the answer to its conflict.
 *
 * @throws ClawError MARKERS_PRESENT
 */
export function decideText(conflict: Conflict, bytes: Buffer): DecidedText {
  if (leftMarkers(conflict, bytes)) throw markersLeft(conflict.path);
  const { ours, theirs, base } = conflict.sides;
  const isExecutable = (ours ?? theirs ?? base)?.isExecutable ?? false;
  if (conflict.hunks.length === 0) {
    return { answer: { kind: 'file', file: { bytes, isExecutable } }, amended: null };
  }
  const hunks = extractAnswers(conflict.hunks, bytes.toString('latin1'));
  const answer: Answer =
    hunks === null
      ? { kind: 'file', file: { bytes: joinedAnswer(conflict.hunks, bytes), isExecutable } }
      : { kind: 'hunks', hunks };
  const answered = answeredFile(conflict, answer);
  if (answered?.bytes.equals(bytes) === true) return { answer, amended: null };
  // An answer that only holds with what was changed around it is one with it.
  if (answerFault(conflict, answered) === null) return { answer, amended: bytes };
  return { answer: { kind: 'file', file: { bytes, isExecutable } }, amended: null };
}

/** Takes one answer for all conflicts where they run into each other, within the lines around them. */
function joinedAnswer(hunks: readonly Hunk[], bytes: Buffer): Buffer {
  const [head, tail] = [hunks[0], hunks.at(-1)];
  const all: Hunk = { kind: 'conflict', base: [], ours: [], theirs: [] };
  const around = [head, all, tail].flatMap((hunk) =>
    hunk === all || hunk?.kind === 'resolved' ? [hunk] : [],
  );
  const [answer] = extractAnswers(around, bytes.toString('latin1')) ?? [];
  const lines = around.flatMap((hunk) =>
    hunk.kind === 'resolved' ? hunk.lines : (answer?.resolved ?? []),
  );
  return Buffer.from(lines.join(''), 'latin1');
}

/** Refuses a text that is not finished. */
export function markersLeft(path: string): ClawError {
  return new ClawError(
    'MARKERS_PRESENT',
    `The text for ${path} still holds conflict markers. Choose between the sides there, or with --ours or --theirs.`,
    { path },
  );
}

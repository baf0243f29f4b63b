import { contentOf, dominantTerminator, endLine, type Hunk, splitLines } from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import type { Answer } from '../installed/resolution.ts';

/** The resolution of one hunk: a side, both sides in this order, or other words (as people read them). */
export type Pick = 'ours' | 'theirs' | 'ours-theirs' | 'theirs-ours' | { readonly text: string };

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

/**
 * Returns the answer that picks make, one for each open hunk in order.
 *
 * @throws ClawError USAGE where there are more or fewer of them
 */
export function answerOfPicks(conflict: Conflict, picks: readonly Pick[]): Answer {
  const open = conflict.hunks.filter((hunk) => hunk.kind === 'conflict');
  if (open.length === 0 || open.length !== picks.length) {
    throw new ClawError(
      'USAGE',
      `${conflict.path} has ${open.length} open hunks, but ${picks.length} were answered.`,
      { path: conflict.path },
    );
  }
  const end = lineEndOf(conflict);
  const last = conflict.hunks.at(-1);
  const hunks = open.map((hunk, at) => {
    const { base, ours, theirs } = hunk;
    const picked = linesOf(hunk, picks[at] ?? 'ours', end);
    // A missing newline is intended at the end of a text, and an accident before other lines.
    const isLast = hunk === last && [ours, theirs].some((side) => !side.at(-1)?.endsWith('\n'));
    return { base, ours, theirs, resolved: isLast ? picked : closed(picked, end) };
  });
  return { kind: 'hunks', hunks };
}

function linesOf(hunk: ConflictHunk, pick: Pick, end: '\n' | '\r\n'): readonly string[] {
  switch (pick) {
    case 'ours':
    case 'theirs':
      return hunk[pick];
    case 'ours-theirs':
      return [...closed(hunk.ours, end), ...hunk.theirs];
    case 'theirs-ours':
      return [...closed(hunk.theirs, end), ...hunk.ours];
    default: {
      const bytes = Buffer.from(pick.text).toString('latin1');
      return splitLines(bytes).map((line) =>
        line.endsWith('\n') ? endLine(contentOf(line), end) : line,
      );
    }
  }
}

function closed(lines: readonly string[], end: '\n' | '\r\n'): readonly string[] {
  const last = lines.at(-1);
  return last === undefined || last.endsWith('\n') ? lines : [...lines.slice(0, -1), last + end];
}

function lineEndOf({ hunks }: Conflict): '\n' | '\r\n' {
  const lines = hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : hunk.ours));
  return dominantTerminator(lines) || '\n';
}

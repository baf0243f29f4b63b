import {
  contentOf,
  dominantTerminator,
  endLine,
  type Hunk,
  splitLines,
  unifiedPatch,
} from '@patchclaw/merge';
import type { z } from 'zod';
import { answeredFile } from '../compose/answer.ts';
import type { Decision } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import type { ShownDecision as Schema } from '../contract/json.ts';
import type { Immutable } from '../contract/result.ts';
import { ClawError } from '../errors.ts';
import type { Answer } from '../installed/resolution.ts';

/** The way to resolve one conflict, by the owner or a model that they asked. */
export type Choice =
  | PlainChoice
  /** The numbered way at each place of the conflict, counted from 1. */
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] }
  /** All of it by one rule. */
  | { readonly kind: 'rule'; readonly rule: string }
  /** One side by a word of git's: what is there, or what comes. */
  | { readonly kind: 'word'; readonly word: 'ours' | 'theirs' }
  /** The side of a layer. */
  | { readonly kind: 'take'; readonly layer: string }
  /** Both sides; by a word of git's or the name of a layer, whose lines come first. */
  | { readonly kind: 'both-by'; readonly first: string };

/** The resolution of one hunk: a side, both sides in this order, or other words (as people read them). */
export type HunkChoice =
  | 'ours'
  | 'theirs'
  | 'ours-theirs'
  | 'theirs-ours'
  | { readonly text: string };

/** A choice that says by itself what becomes of the conflict. */
export type PlainChoice =
  | { readonly kind: 'ours' | 'theirs'; readonly origin?: string }
  /** Both sides of each open hunk, this one first. */
  | { readonly kind: 'both'; readonly first: 'ours' | 'theirs' }
  /** A file with the finished text, or the value of a structured conflict. */
  | { readonly kind: 'with'; readonly given: string }
  /** The finished text itself. */
  | { readonly kind: 'text'; readonly text: string }
  /** The text under `.claw/pending/`, which the owner has finished there. */
  | { readonly kind: 'edited' }
  /** A recorded resolution that was offered. */
  | { readonly kind: 'recording'; readonly key: string }
  /** A pick for each open hunk, in their order. */
  | { readonly kind: 'picks'; readonly picks: readonly HunkChoice[]; readonly origin?: string }
  /** The value of a structured conflict as it is; null takes the key out. */
  | { readonly kind: 'value'; readonly value: unknown; readonly origin?: string };

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

/**
 * Returns the answer that picks make, one for each open hunk in order.
 *
 * @throws ClawError USAGE where there are more or fewer of them
 */
export function answerOfPicks(conflict: Conflict, picks: readonly HunkChoice[]): Answer {
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

function linesOf(hunk: ConflictHunk, pick: HunkChoice, end: '\n' | '\r\n'): readonly string[] {
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

/** A decision for people: its origin, and the change that it makes of ours, or the value. */
type ShownDecision = Immutable<z.output<typeof Schema>>;

/** Returns a decision as people read it. */
export function shownDecision(
  conflict: Conflict,
  { answer, origin, amended }: Decision,
): ShownDecision {
  if (answer.kind === 'value') return { origin, value: answer.value, patch: null };
  const { path, sides } = conflict;
  const file = answeredFile(conflict, answer);
  const after = file && amended ? { ...file, bytes: amended } : file;
  const { patch } = unifiedPatch({ path, before: sides.ours, after, movedFrom: null });
  return { origin, value: null, patch };
}

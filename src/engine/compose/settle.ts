import type { Conflict } from '../conflict.ts';
import type { Hunk } from '../merge/hunk.ts';
import { mergeValue } from '../merge/merge-value.ts';
import type { SyntaxFault } from '../merge/syntax/parse.ts';
import { mergeFault } from '../merge/syntax/text-fault.ts';
import {
  type Answer,
  type AnsweredHunk,
  isSameAnswer,
  isSameSubject,
  type Resolution,
  type Subject,
  subjectOf,
} from '../state/resolution.ts';
import type { TreeFile, Versions } from '../tree.ts';

/** What the owner, or a model that they asked, decided on a conflict of the waiting operation. */
export type Decision = {
  readonly subject: Subject;
  readonly answer: Answer;
  /** `owner`, or the model that proposed it. */
  readonly origin: string;
  /** The whole text as the owner left it, where it has changes outside the hunks as well. */
  readonly amended: Buffer | null;
};

/** All that may settle a conflict without asking. */
export type KnownAnswers = {
  readonly decisions: readonly Decision[];
  readonly resolutions: readonly Resolution[];
};

export const NO_ANSWERS: KnownAnswers = { decisions: [], resolutions: [] };

/** A conflict that did not stay one, and what settled it. */
export type Settlement = {
  readonly conflict: Conflict;
  readonly answer: Answer;
  /** The decision that it took; null where recordings were enough. */
  readonly decision: Decision | null;
  /** Keys of the recordings that it took. */
  readonly keys: readonly string[];
};

export type Settled =
  | { readonly kind: 'settled'; readonly settlement: Settlement }
  /** What is left of it: hunks that a recording settles are settled in it. */
  | { readonly kind: 'open'; readonly conflict: Conflict };

/**
 * Settles a conflict by what is known, in DESIGN's order: a decision on this very conflict; a recording
 * of it, where path and all three whole files are the same; recordings of this installation, hunk by
 * hunk, in the same path and between the same layers. Recordings that disagree settle nothing.
 */
export function settleConflict(conflict: Conflict, known: KnownAnswers): Settled {
  const subject = subjectOf(conflict);
  const exact = known.resolutions.filter(
    (one) => isSameSubject(one.subject, subject) && fits(conflict, one.answer),
  );
  const decision = known.decisions.find((one) => isSameSubject(one.subject, subject)) ?? null;
  const [first, ...others] = exact;
  if (decision === null && first !== undefined) {
    const rival = others.find((other) => !isSameAnswer(other.answer, first.answer));
    if (rival !== undefined) return open(conflict, [first, rival]);
    const settlement = { conflict, answer: first.answer, decision: null, keys: [first.key] };
    return checked({ kind: 'settled', settlement });
  }
  if (decision !== null && decision.answer.kind !== 'hunks') {
    const { answer } = decision;
    return { kind: 'settled', settlement: { conflict, answer, decision, keys: [] } };
  }
  const settled = settleHunks(conflict, decision, known.resolutions.filter(isLikely(subject)));
  return decision === null ? checked(settled) : settled;
}

/** A recording that spoils a file here settles nothing, wherever else it holds. */
function checked(settled: Settled): Settled {
  if (settled.kind === 'open' || settled.settlement.answer.kind === 'value') return settled;
  const { conflict, answer, keys } = settled.settlement;
  const fault = answerFault(conflict, answeredFile(conflict, answer));
  if (fault === null) return settled;
  const reason =
    `${conflict.reason} The recording ${keys.join(', ')} does not fit any more: ` +
    `line ${fault.line} would not parse (${fault.reason}).`;
  return { kind: 'open', conflict: { ...conflict, reason } };
}

/** What keeps the file that settles a conflict from being read, where both of its sides can be. */
export function answerFault({ path, sides }: Conflict, file: TreeFile | null): SyntaxFault | null {
  return file === null ? null : mergeFault(path, file, [sides.ours, sides.theirs]);
}

/** The file that an answer makes of a conflict; null where the answer is that there is none. */
export function answeredFile(conflict: Conflict, answer: Answer): TreeFile | null {
  if (answer.kind === 'file') return answer.file;
  if (answer.kind === 'value') throw new TypeError(`${conflict.path} has a value, not a file`);
  const waiting = [...answer.hunks];
  const lines = conflict.hunks.flatMap((hunk) =>
    hunk.kind === 'settled' ? hunk.lines : (takeAnswer(waiting, hunk)?.resolved ?? []),
  );
  const { base, ours, theirs } = conflict.sides;
  const before = base?.isExecutable ?? false;
  const isExecutable = mergeValue({
    base: before,
    ours: ours?.isExecutable ?? before,
    theirs: theirs?.isExecutable ?? before,
  });
  return { bytes: Buffer.from(lines.join(''), 'latin1'), isExecutable };
}

/** Recordings that speak of a conflict's path but may not settle it by themselves: to be offered. */
export function offersFor(
  conflict: Conflict,
  resolutions: readonly Resolution[],
): readonly Resolution[] {
  return resolutions.filter(
    (one) =>
      one.subject.path === conflict.path &&
      one.subject.kind === conflict.kind &&
      (isSameSubject(one.subject, subjectOf(conflict)) || fits(conflict, one.answer)),
  );
}

/** Whether a recording would settle a conflict, or any hunk of it, otherwise than it was decided. */
export function contradicts(one: Resolution, conflict: Conflict, decided: Answer): boolean {
  const subject = subjectOf(conflict);
  if (isSameSubject(one.subject, subject)) {
    return fits(conflict, one.answer) && !isSameAnswer(one.answer, decided);
  }
  if (one.answer.kind !== 'hunks' || decided.kind !== 'hunks' || !isLikely(subject)(one)) {
    return false;
  }
  const recorded = one.answer.hunks;
  return decided.hunks.some((hunk) => {
    const other = answerTo(recorded, hunk);
    return other !== null && !isSameLines(other.resolved, hunk.resolved);
  });
}

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

function isLikely(subject: Subject): (one: Resolution) => boolean {
  return (one) =>
    one.isOwn &&
    one.answer.kind === 'hunks' &&
    one.subject.path === subject.path &&
    one.subject.layers[0] === subject.layers[0] &&
    one.subject.layers[1] === subject.layers[1];
}

function settleHunks(
  conflict: Conflict,
  decision: Decision | null,
  recordings: readonly Resolution[],
): Settled {
  const decided = decision?.answer.kind === 'hunks' ? [...decision.answer.hunks] : [];
  const keys = new Set<string>();
  const rivals: Resolution[] = [];
  const answers = conflict.hunks.map((hunk): AnsweredHunk | null => {
    if (hunk.kind === 'settled') return null;
    const own = takeAnswer(decided, hunk);
    if (own !== null) return own;
    const matches = recordings.flatMap((one) => {
      const answer = one.answer.kind === 'hunks' ? answerTo(one.answer.hunks, hunk) : null;
      return answer === null ? [] : [{ one, answer }];
    });
    const [first, ...others] = matches;
    if (first === undefined) return null;
    const rival = others.find(({ answer }) => !isSameLines(answer.resolved, first.answer.resolved));
    if (rival !== undefined) {
      rivals.push(first.one, rival.one);
      return null;
    }
    keys.add(first.one.key);
    return first.answer;
  });
  const isOpen = conflict.hunks.some(
    (hunk, at) => hunk.kind === 'conflict' && (answers[at] ?? null) === null,
  );
  const isWhole = conflict.hunks.some(({ kind }) => kind === 'conflict');
  if (isOpen || !isWhole) return open(withAnswers(conflict, answers), rivals);
  const hunks = answers.flatMap((answer) => answer ?? []);
  const settlement = {
    conflict,
    answer: { kind: 'hunks', hunks } as const,
    decision,
    keys: [...keys],
  };
  return { kind: 'settled', settlement };
}

function open(conflict: Conflict, rivals: readonly Resolution[]): Settled {
  const [one, other] = rivals;
  if (one === undefined || other === undefined) return { kind: 'open', conflict };
  const reason =
    `${conflict.reason} The recordings ${one.key} and ${other.key} disagree on it: ` +
    'claw resolutions forget one of them, or resolve it anew.';
  return { kind: 'open', conflict: { ...conflict, reason } };
}

function withAnswers(conflict: Conflict, answers: readonly (AnsweredHunk | null)[]): Conflict {
  const hunks: Hunk[] = [];
  for (const [at, hunk] of conflict.hunks.entries()) {
    const answer = answers[at] ?? null;
    const next: Hunk = answer === null ? hunk : { kind: 'settled', lines: answer.resolved };
    const last = hunks.at(-1);
    // Settled stretches that touch are one, as everything that reads hunks expects.
    if (next.kind === 'settled' && last?.kind === 'settled') {
      hunks[hunks.length - 1] = { kind: 'settled', lines: [...last.lines, ...next.lines] };
    } else if (next.kind === 'conflict' || next.lines.length > 0) hunks.push(next);
  }
  return { ...conflict, hunks };
}

/** Whether an answer speaks of exactly the hunks of a conflict; of a whole file it always does. */
function fits(conflict: Conflict, answer: Answer): boolean {
  if (answer.kind === 'value') return conflict.kind === 'structured';
  if (conflict.kind === 'structured') return false;
  if (answer.kind === 'file') return leavesSurroundings(conflict, answer.file);
  const hunks = conflict.hunks.filter((hunk) => hunk.kind === 'conflict');
  return (
    hunks.length === answer.hunks.length &&
    hunks.every((hunk, at) => {
      const one = answer.hunks[at];
      return one !== undefined && isSameHunk(one, hunk);
    })
  );
}

/** A whole file that settles hunks leaves what stands before the first and behind the last of them. */
function leavesSurroundings({ hunks }: Conflict, file: TreeFile | null): boolean {
  if (hunks.length === 0) return true;
  const text = file?.bytes.toString('latin1') ?? '';
  const textOf = (hunk: Hunk | undefined) => (hunk?.kind === 'settled' ? hunk.lines.join('') : '');
  const [head, tail] = [textOf(hunks[0]), textOf(hunks.at(-1))];
  return (
    file !== null &&
    text.length >= head.length + tail.length &&
    text.startsWith(head) &&
    text.endsWith(tail)
  );
}

/** What a recording says of a hunk; nothing where it settled two such hunks in two ways. */
function answerTo(
  hunks: readonly AnsweredHunk[],
  hunk: Versions<readonly string[]>,
): AnsweredHunk | null {
  const [first, ...others] = hunks.filter((one) => isSameHunk(one, hunk));
  if (first === undefined) return null;
  return others.every((one) => isSameLines(one.resolved, first.resolved)) ? first : null;
}

/** The first answer to a hunk, which then serves no other one. */
function takeAnswer(waiting: AnsweredHunk[], hunk: ConflictHunk): AnsweredHunk | null {
  const at = waiting.findIndex((one) => isSameHunk(one, hunk));
  return at === -1 ? null : (waiting.splice(at, 1)[0] ?? null);
}

function isSameHunk(one: AnsweredHunk, other: Versions<readonly string[]>): boolean {
  return (
    isSameLines(one.base, other.base) &&
    isSameLines(one.ours, other.ours) &&
    isSameLines(one.theirs, other.theirs)
  );
}

function isSameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}

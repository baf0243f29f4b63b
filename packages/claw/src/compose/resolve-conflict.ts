import { type Hunk, tellFault } from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import {
  type Answer,
  type AnsweredHunk,
  isSameAnswer,
  isSameSubject,
  type Resolution,
  type Subject,
  subjectOf,
} from '../installed/resolution.ts';
import {
  answeredFile,
  answerFault,
  disputesOf,
  fits,
  isSameLines,
  ownAnswerTo,
  takeAnswer,
} from './answer.ts';

/** A decision on a conflict of the waiting operation, by the owner or a model that they asked. */
export type Decision = {
  readonly subject: Subject;
  readonly answer: Answer;
  /** `owner`, the model that proposed it, or `release` where the release's lines are taken. */
  readonly origin: string;
  /** The whole text as the owner left it, where it has changes outside the hunks as well. */
  readonly amended: Buffer | null;
};

/** All that may resolve a conflict without asking. */
export type KnownAnswers = {
  readonly decisions: readonly Decision[];
  readonly resolutions: readonly Resolution[];
  /**
   * Layers whose commits are all in the history of the release: where one of them disagrees, the release has
   * made its change and has gone on from there, so what is there stays. None by default.
   */
  readonly released?: ReadonlySet<string>;
};

/** The origin of a decision that nobody made: the release contains the change and has developed the lines further. */
export const RELEASE = 'release';

export const NO_ANSWERS: KnownAnswers = { decisions: [], resolutions: [] };

/** A conflict that did not stay one, and what resolved it. */
export type ResolvedConflict = {
  readonly conflict: Conflict;
  readonly answer: Answer;
  /** The decision that it took; null where recordings were enough. */
  readonly decision: Decision | null;
  /** Keys of the recordings that it took. */
  readonly keys: readonly string[];
};

export type ConflictOutcome =
  | { readonly kind: 'resolved'; readonly resolved: ResolvedConflict }
  /** The rest of the conflict: hunks that a recording resolves are resolved in it. */
  | { readonly kind: 'open'; readonly conflict: Conflict };

/**
 * Resolves a conflict by what is known, in this order: a decision on this very conflict; a recording of it,
 * where path and all three whole files are the same; recordings of this installation, hunk by hunk, in the
 * same path and between the same layers. What is open then stays as it is there, where the release contains the
 * commits of the layer that disagrees.
 *
 * Recordings that disagree resolve nothing.
 */
export function resolveConflict(conflict: Conflict, known: KnownAnswers): ConflictOutcome {
  const subject = subjectOf(conflict);
  const exact = known.resolutions.filter(
    (one) => isSameSubject(one.subject, subject) && (isOwnFile(one) || fits(conflict, one.answer)),
  );
  const decision = decisionOn(conflict, known.decisions);
  const [first, ...others] = exact;
  if (decision === null && first !== undefined) {
    const rival = others.find((other) => !isSameAnswer(other.answer, first.answer));
    if (rival !== undefined) return open(conflict, [first, rival]);
    const resolved = { conflict, answer: first.answer, decision: null, keys: [first.key] };
    return checked({ kind: 'resolved', resolved });
  }
  if (decision !== null && decision.answer.kind !== 'hunks') {
    const { answer } = decision;
    return { kind: 'resolved', resolved: { conflict, answer, decision, keys: [] } };
  }
  const { released } = known;
  const parties = conflict.layers[1].split(', ');
  const isReleased = released !== undefined && parties.every((name) => released.has(name));
  const decided = decidedHunks(conflict, decision, known.decisions);
  const recordings = known.resolutions;
  const outcome = resolveHunks(conflict, decision, { decided, recordings, isReleased });
  return decision === null ? checked(outcome) : outcome;
}

/**
 * Returns the decision on a conflict: on this one, or on the joint conflict that it was part of. The lines are the
 * same there; the lines around them depend on decisions elsewhere in the file.
 */
export function decisionOn(conflict: Conflict, decisions: readonly Decision[]): Decision | null {
  const subject = subjectOf(conflict);
  return (
    decisions.find((one) => isSameSubject(one.subject, subject)) ??
    decisions.find((one) => isPartOf(conflict, one)) ??
    null
  );
}

/**
 * Returns the decided lines for the places of a conflict, those of the decision on it first. What is left of a conflict
 * that is decided in part is asked about between the layers of that part, so the rest is in decisions of other layers.
 */
function decidedHunks(
  { path, kind, layers }: Conflict,
  decision: Decision | null,
  decisions: readonly Decision[],
): AnsweredHunk[] {
  if (decision === null) return [];
  const others = decisions.filter(
    ({ subject }) =>
      subject.path === path &&
      subject.kind === kind &&
      subject.layers[1].split(', ').includes(layers[1]),
  );
  return [...new Set([decision, ...others])].flatMap(({ answer }) =>
    answer.kind === 'hunks' ? answer.hunks : [],
  );
}

function isPartOf({ path, kind, layers, hunks }: Conflict, { subject, answer }: Decision): boolean {
  const others = subject.layers[1].split(', ');
  if (subject.path !== path || subject.kind !== kind || others.length < 2) return false;
  return (
    answer.kind === 'hunks' &&
    others.includes(layers[1]) &&
    hunks.some((hunk) => hunk.kind === 'conflict' && takeAnswer([...answer.hunks], hunk) !== null)
  );
}

/**
 * Tells whether a recording is a whole file that was decided here, which may differ around the conflict as
 * well.
 */
function isOwnFile({ isOwn, subject, answer }: Resolution): boolean {
  return isOwn && answer.kind === 'file' && subject.kind !== 'structured';
}

/** Reopens a conflict whose recording spoils the file here, wherever else it holds. */
function checked(outcome: ConflictOutcome): ConflictOutcome {
  if (outcome.kind === 'open' || outcome.resolved.answer.kind === 'value') return outcome;
  const { conflict, answer, keys, decision } = outcome.resolved;
  const fault = answerFault(conflict, answeredFile(conflict, answer));
  if (fault === null) return outcome;
  if (decision !== null) return { kind: 'open', conflict };
  const reason =
    `${conflict.reason} The recording ${keys.join(', ')} does not fit any more: ` +
    `the file that it makes ${tellFault(fault)}.`;
  return { kind: 'open', conflict: { ...conflict, reason } };
}

function resolveHunks(
  conflict: Conflict,
  decision: Decision | null,
  {
    decided,
    recordings,
    isReleased,
  }: {
    /** Each answer is taken once. */
    readonly decided: AnsweredHunk[];
    readonly recordings: readonly Resolution[];
    readonly isReleased: boolean;
  },
): ConflictOutcome {
  const keys = new Set<string>();
  const rivals: Resolution[] = [];
  let isTaken = false;
  const disputes = [...disputesOf(conflict)];
  const answers = conflict.hunks.map((hunk): AnsweredHunk | null => {
    if (hunk.kind === 'resolved') return null;
    const dispute = disputes.shift();
    const own = takeAnswer(decided, hunk);
    if (own !== null) return own;
    const matches = recordings.flatMap((one) => {
      const answer = dispute ? ownAnswerTo(one, dispute) : null;
      return answer === null ? [] : [{ one, answer }];
    });
    const [first, ...others] = matches;
    if (first === undefined) {
      isTaken ||= isReleased;
      const { base, ours, theirs } = hunk;
      return isReleased ? { base, ours, theirs, resolved: ours } : null;
    }
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
  if (!isWhole && isReleased) return leftAsItIs(conflict, asIsThere(conflict));
  if (isOpen || !isWhole) return open(withAnswers(conflict, answers), rivals);
  const hunks = answers.flatMap((answer) => answer ?? []);
  const answer = { kind: 'hunks', hunks } as const;
  if (isTaken && decision === null) return leftAsItIs(conflict, answer);
  return { kind: 'resolved', resolved: { conflict, answer, decision, keys: [...keys] } };
}

function asIsThere({ sides, values }: Conflict): Answer {
  if (values !== null) return { kind: 'value', value: values.ours ?? null };
  return { kind: 'file', file: sides.ours };
}

/** A decision that is recorded like one of the owner's, since nothing but this update knows the release's history. */
function leftAsItIs(conflict: Conflict, answer: Answer): ConflictOutcome {
  const decision = { subject: subjectOf(conflict), answer, origin: RELEASE, amended: null };
  return { kind: 'resolved', resolved: { conflict, answer, decision, keys: [] } };
}

function open(conflict: Conflict, rivals: readonly Resolution[]): ConflictOutcome {
  const [one, other] = rivals;
  if (one === undefined || other === undefined) return { kind: 'open', conflict };
  const reason =
    `${conflict.reason} The recordings ${one.key} and ${other.key} disagree on it: ` +
    'claw resolutions forget one of them, or resolve it again.';
  return { kind: 'open', conflict: { ...conflict, reason } };
}

function withAnswers(conflict: Conflict, answers: readonly (AnsweredHunk | null)[]): Conflict {
  const hunks: Hunk[] = [];
  for (const [at, hunk] of conflict.hunks.entries()) {
    const answer = answers[at] ?? null;
    const next: Hunk = answer === null ? hunk : { kind: 'resolved', lines: answer.resolved };
    const last = hunks.at(-1);
    // Resolved stretches that touch are one, as everything that reads hunks expects.
    if (next.kind === 'resolved' && last?.kind === 'resolved') {
      hunks[hunks.length - 1] = { kind: 'resolved', lines: [...last.lines, ...next.lines] };
    } else if (next.kind === 'conflict' || next.lines.length > 0) hunks.push(next);
  }
  const { authors = [], layers, ...rest } = conflict;
  const waiting = [...authors];
  const left = answers.flatMap((answer, at) => {
    const author = conflict.hunks[at]?.kind === 'conflict' ? waiting.shift() : undefined;
    return answer === null && author !== undefined ? [author] : [];
  });
  return { ...rest, layers: [left[0] ?? layers[0], layers[1]], authors: left, hunks };
}

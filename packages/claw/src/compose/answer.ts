import {
  createFaultFinder,
  type FindTextFault,
  type Hunk,
  mergeValue,
  type TextFault,
  type TreeFile,
  type Versions,
} from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import type { Answer, AnsweredHunk, Resolution } from '../installed/resolution.ts';

/** Returns the file that an answer makes of a conflict; null if the answer is to have no file. */
export function answeredFile(conflict: Conflict, answer: Answer): TreeFile | null {
  if (answer.kind === 'file') return answer.file;
  if (answer.kind === 'value') throw new TypeError(`${conflict.path} has a value, not a file`);
  const waiting = [...answer.hunks];
  const lines = conflict.hunks.flatMap((hunk) =>
    hunk.kind === 'resolved' ? hunk.lines : (takeAnswer(waiting, hunk)?.resolved ?? []),
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

/** Finders by conflict: the inputs' duplicates are read once for all answers that are tried, and each answer once. */
const finders = new WeakMap<
  Conflict['sides'],
  { readonly find: FindTextFault; readonly known: Map<string, TextFault | null> }
>();

/** Finds a defect of the resolved file that none of its inputs has; null if there is none. */
export function answerFault({ path, sides }: Conflict, file: TreeFile | null): TextFault | null {
  if (file === null) return null;
  const finder = finders.get(sides) ?? { find: createFaultFinder(path, sides), known: new Map() };
  finders.set(sides, finder);
  const text = file.bytes.toString('latin1');
  const before = finder.known.get(text);
  if (before !== undefined) return before;
  const fault = finder.find(file);
  finder.known.set(text, fault);
  return fault;
}

/** Tells whether an answer covers exactly the hunks of a conflict; a whole file always does. */
export function fits(conflict: Conflict, answer: Answer): boolean {
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

/** Tells whether a whole file that resolves hunks keeps the text before the first and after the last one. */
function leavesSurroundings({ hunks }: Conflict, file: TreeFile | null): boolean {
  if (hunks.length === 0) return true;
  const text = file?.bytes.toString('latin1') ?? '';
  const textOf = (hunk: Hunk | undefined) => (hunk?.kind === 'resolved' ? hunk.lines.join('') : '');
  const [head, tail] = [textOf(hunks[0]), textOf(hunks.at(-1))];
  return (
    file !== null &&
    text.length >= head.length + tail.length &&
    text.startsWith(head) &&
    text.endsWith(tail)
  );
}

/** One open hunk of a conflict, and whose sides meet there. */
export type Dispute = {
  readonly path: string;
  readonly layers: readonly [ours: string, theirs: string];
  readonly hunk: Versions<readonly string[]>;
};

/** Returns the open hunks of a conflict, in order. */
export function disputesOf(conflict: Conflict): readonly Dispute[] {
  const { path, layers, authors, others, hunks } = conflict;
  const open = hunks.filter((hunk) => hunk.kind === 'conflict');
  return open.map((hunk, at) => ({
    path,
    layers: [authors?.[at] ?? layers[0], others?.[at] ?? layers[1]],
    hunk,
  }));
}

/**
 * Finds this installation's answer to a hunk: the same hunk between the same layers in the same path. Null
 * unless the recording resolved all such hunks in one way.
 */
export function ownAnswerTo(
  { isOwn, subject, answer }: Resolution,
  { path, layers, hunk }: Dispute,
): AnsweredHunk | null {
  const [ours, theirs] = subject.layers;
  if (!isOwn || answer.kind !== 'hunks' || subject.path !== path || theirs !== layers[1])
    return null;
  return answerTo(
    answer.hunks.filter((one) => (one.author ?? ours) === layers[0]),
    hunk,
  );
}

function answerTo(
  hunks: readonly AnsweredHunk[],
  hunk: Versions<readonly string[]>,
): AnsweredHunk | null {
  const [first, ...others] = hunks.filter((one) => isSameHunk(one, hunk));
  if (first === undefined) return null;
  return others.every((one) => isSameLines(one.resolved, first.resolved)) ? first : null;
}

/** Returns the first answer to a hunk, which then serves no other one. */
export function takeAnswer(
  waiting: AnsweredHunk[],
  hunk: Versions<readonly string[]>,
): AnsweredHunk | null {
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

export function isSameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}

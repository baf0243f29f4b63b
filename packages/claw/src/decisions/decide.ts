import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Hunk, isSameFile } from '@patchclaw/merge';
import { answeredFile, answerFault } from '../compose/answer.ts';
import { extractAnswers } from '../compose/extract-answer.ts';
import { type Decision, decisionOn, resolveConflict } from '../compose/resolve-conflict.ts';
import { type Conflict, PLAN } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import { type Answer, subjectOf } from '../installed/resolution.ts';
import { leavesMarkers, readResolutions } from '../installed/resolution-file.ts';
import { readState } from '../installed/state-file.ts';
import { refuseSpoiled } from '../operation/planned-tree/spoiled-files.ts';
import { checkValue, parseValue } from '../package/manifest/resolution-value.ts';
import { leftMarkers, markedText } from '../pending/files.ts';
import { PENDING } from '../pending/pending.ts';
import type { Waiting } from '../pending/waiting.ts';
import { answerOfPicks, type Choice, type PlainChoice } from './choice.ts';
import { bothByLayer, choiceByLayer, type Roles, sideOfWord } from './named-side.ts';

/**
 * Turns a choice into a decision that `continue` can use.
 *
 * @throws ClawError MARKERS_PRESENT for a text that still has some, RESOLUTION_INVALID for one that does
 *   not parse although both sides do, or has a name twice that no input has twice, USAGE for a choice that does not fit the conflict, FILE_MISSING,
 *   and for a value what a declaration is refused with
 */
export function decide(
  { root, cwd }: { readonly root: string; readonly cwd: string },
  conflict: Conflict,
  choice: PlainChoice,
): Decision {
  refuseUndecidable(conflict);
  const subject = subjectOf(conflict);
  const decided = decideBy({ root, cwd }, conflict, choice);
  if (leavesMarkers(decided.answer)) throw markersLeft(conflict.path);
  refuseSpoiled(conflict, decided);
  refuseElsewhere(conflict, decided);
  return { subject, origin: originOf(choice), ...decided };
}

/**
 * Refuses answers beyond the hunks for a conflict with several layers, which is decided place by place: the
 * rest is not resolved yet.
 */
function refuseElsewhere({ path, others }: Conflict, { answer, amended }: DecidedText): void {
  if (others === undefined || (answer.kind === 'hunks' && amended === null)) return;
  throw new ClawError(
    'USAGE',
    `${path} waits in several places between several layers, so the answer goes between the markers alone. ` +
      'Leave the lines around them as they are, and change those once this is carried out.',
    { path },
  );
}

function originOf(choice: PlainChoice): string {
  return 'origin' in choice ? (choice.origin ?? 'owner') : 'owner';
}

/** The answer in a finished text, and the text itself where it has changes outside the hunks as well. */
type DecidedText = { readonly answer: Answer; readonly amended: Buffer | null };

/**
 * Reads a finished text of a whole file as the answer to its conflict.
 *
 * @throws ClawError MARKERS_PRESENT
 */
function decideText(conflict: Conflict, bytes: Buffer): DecidedText {
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
function markersLeft(path: string): ClawError {
  return new ClawError(
    'MARKERS_PRESENT',
    `The text for ${path} still holds conflict markers. Choose between the sides there, or with --ours or --theirs.`,
    { path },
  );
}

/**
 * Turns a choice among the ways that a conflict is shown with into what that way does, and a name of a side into that
 * side; any other choice stays.
 *
 * @throws ClawError USAGE for a way or side that the conflict does not have, and for `ours` and `theirs` where they would
 *   mislead
 */
export async function plainChoice(
  conflict: Conflict,
  choice: Choice,
  roles: Roles,
): Promise<PlainChoice> {
  switch (choice.kind) {
    case 'word':
      return { kind: sideOfWord(conflict, choice.word, roles) };
    case 'take':
      return choiceByLayer(conflict, choice.layer, roles);
    case 'both-by':
      return bothByLayer(conflict, choice.first, roles);
    case 'numbers':
    case 'rule':
      break;
    default:
      return choice;
  }
  refuseUndecidable(conflict);
  if (choice.kind === 'rule' && (choice.rule === 'ours' || choice.rule === 'theirs')) {
    return { kind: sideOfWord(conflict, choice.rule, roles) };
  }
  // Loaded where a way is named: it takes the whole merge to find those of a conflict.
  const { numberedOption, optionByRule } = await import('./chosen-option.ts');
  if (choice.kind === 'rule') return optionByRule(conflict, choice.rule);
  return numberedOption(conflict, choice.numbers);
}

/** Decides conflicts that the owner has finished by hand in `.claw/pending/` without saying so. */
export function decideEdited(
  place: { readonly root: string; readonly cwd: string },
  { conflicts, decisions }: Waiting,
): readonly Decision[] {
  const open = conflicts.filter((conflict) => !isDecided(conflict, decisions));
  const finished = open.filter((conflict) => isFinished(place.root, conflict));
  return finished.map((conflict) => decide(place, conflict, { kind: 'edited' }));
}

export function isDecided(conflict: Conflict, decisions: readonly Decision[]): boolean {
  return decisionOn(conflict, decisions) !== null;
}

/** Tells whether content can resolve a conflict; some are about names and paths. */
export function canBeDecided(conflict: Conflict): boolean {
  const { kind, hunks, sides } = conflict;
  const isName =
    kind === 'content' && hunks.length === 0 && sides.ours && isSameFile(sides.ours, sides.theirs);
  return !isPlace(conflict) && !isName;
}

function isPlace({ layers }: Conflict): boolean {
  return layers[1] === PLAN;
}

/** @throws ClawError USAGE for a conflict that no content can resolve */
function refuseUndecidable(conflict: Conflict): void {
  if (canBeDecided(conflict)) return;
  const { path, reason } = conflict;
  const way = isPlace(conflict)
    ? 'Move that away, then claw continue.'
    : 'One of the two has to go, or to change: claw abort forgets this.';
  throw new ClawError('USAGE', `${path} is not resolved by a text. ${reason} ${way}`, { path });
}

type Place = { readonly root: string; readonly cwd: string };

function decideBy(place: Place, conflict: Conflict, choice: PlainChoice): DecidedText {
  switch (choice.kind) {
    case 'ours':
    case 'theirs':
      return { answer: sideOf(conflict, choice.kind), amended: null };
    case 'both':
      return { answer: bothOf(conflict, choice.first), amended: null };
    case 'with':
      return conflict.values === null
        ? decideText(conflict, readGiven(place, choice.given))
        : { answer: valueOfText(conflict, choice.given), amended: null };
    case 'text':
      return finishedText(conflict, choice.text);
    case 'edited':
      return decideText(conflict, readEdited(place.root, conflict));
    case 'recording':
      return decideRecorded(place.root, conflict, choice.key);
    case 'picks':
      return { answer: answerOfPicks(conflict, choice.picks), amended: null };
    case 'value':
      return { answer: plainValue(conflict, choice.value), amended: null };
  }
}

function sideOf(conflict: Conflict, side: 'ours' | 'theirs'): Answer {
  const { values, sides, hunks } = conflict;
  if (values !== null) return { kind: 'value', value: values[side] ?? null };
  if (hunks.length === 0) return { kind: 'file', file: sides[side] };
  const answered = hunks.flatMap((hunk) =>
    hunk.kind === 'conflict' ? [{ ...hunk, resolved: hunk[side] }] : [],
  );
  return {
    kind: 'hunks',
    hunks: answered.map(({ base, ours, theirs, resolved }) => ({ base, ours, theirs, resolved })),
  };
}

function bothOf(conflict: Conflict, first: 'ours' | 'theirs'): Answer {
  const { path, hunks } = conflict;
  const open = hunks.filter(({ kind }) => kind === 'conflict');
  if (open.length === 0) {
    throw new ClawError('USAGE', `${path} has no lines of which both could stay.`, { path });
  }
  const pick = first === 'ours' ? 'ours-theirs' : 'theirs-ours';
  return answerOfPicks(
    conflict,
    open.map(() => pick),
  );
}

function finishedText(conflict: Conflict, text: string): DecidedText {
  const { path, values } = conflict;
  if (values === null) return decideText(conflict, Buffer.from(text));
  throw new ClawError('USAGE', `${path} takes a value, not a text.`, { path });
}

function valueOfText({ path, values }: Conflict, text: string): Answer {
  return { kind: 'value', value: parseValue(path, text, values?.theirs) };
}

function plainValue({ path, values }: Conflict, value: unknown): Answer {
  if (values === null) throw new ClawError('USAGE', `${path} takes a text, not a value.`, { path });
  checkValue(path, value ?? null);
  return { kind: 'value', value: value ?? null };
}

function decideRecorded(root: string, conflict: Conflict, key: string): DecidedText {
  const recording = readResolutions(root, readState(root)).find((one) => one.key === key);
  if (recording === undefined) {
    throw new ClawError('USAGE', `There is no recording ${key}: claw resolutions lists them.`);
  }
  const { answer } = recording;
  if (answer.kind === 'value') return { answer: plainValue(conflict, answer.value), amended: null };
  // Counts as this installation's own, for these very layers: the owner says that it fits. A whole file may
  // reach beyond the conflict, unseen, and does not count.
  const isOwn = recording.isOwn || answer.kind === 'hunks';
  const subject = { ...recording.subject, path: conflict.path, layers: conflict.layers };
  const outcome = resolveConflict(conflict, {
    decisions: [],
    resolutions: [{ ...recording, subject, answer: withoutAuthors(answer), isOwn }],
  });
  if (outcome.kind === 'resolved') return { answer: outcome.resolved.answer, amended: null };
  throw new ClawError(
    'USAGE',
    `The recording ${key} does not resolve every part of ${conflict.path}; resolve it another way.`,
    { path: conflict.path },
  );
}

function withoutAuthors(answer: Answer): Answer {
  if (answer.kind !== 'hunks') return answer;
  const hunks = answer.hunks.map(({ base, ours, theirs, resolved }) => ({
    base,
    ours,
    theirs,
    resolved,
  }));
  return { kind: 'hunks', hunks };
}

function readGiven({ cwd }: Place, given: string): Buffer {
  const path = resolve(cwd, given);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    const message = `${given} is a folder. Give --with the file that holds the finished text.`;
    throw new ClawError('FILE_KIND', message, { path: given });
  }
  if (stat !== undefined) return readFileSync(path);
  throw new ClawError('FILE_MISSING', `There is no file ${given} with the finished text.`, {
    path: given,
  });
}

function readEdited(root: string, conflict: Conflict): Buffer {
  const place = join(root, PENDING, conflict.path);
  if (markedText(conflict) !== null && existsSync(place)) return readFileSync(place);
  throw new ClawError(
    'USAGE',
    `Say how ${conflict.path} is resolved: --ours, --theirs, --with or --agent.`,
    { path: conflict.path },
  );
}

/** Tells whether the owner has finished the text of a conflict in `.claw/pending/`. */
export function isFinished(root: string, conflict: Conflict): boolean {
  const marked = markedText(conflict);
  const place = join(root, PENDING, conflict.path);
  if (marked === null || !existsSync(place)) return false;
  const text = readFileSync(place);
  return !text.equals(marked) && !leftMarkers(conflict, text);
}

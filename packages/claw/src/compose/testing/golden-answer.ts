import { parse } from 'yaml';
import { parseConflicts } from '../../../../merge/src/markers.ts';
import type { Conflict } from '../../conflict.ts';
import { digestBytes } from '../../digest.ts';
import {
  type Answer,
  type AnsweredHunk,
  resolutionKey,
  type Subject,
  subjectOf,
} from '../../installed/resolution.ts';
import type { KnownAnswers } from '../resolve-conflict.ts';
import { fileOf, type Section } from './golden-text.ts';

/** A resolution that a golden case knows before its plan is made. */
export type GivenAnswer = {
  readonly from: 'recorded here' | 'recorded elsewhere' | 'decided';
  /** True if it was made for the very files that meet in this case. */
  readonly isExact: boolean;
  readonly path: string;
  readonly layers: readonly [ours: string, theirs: string];
  /** A side means the text of that side in the conflict. */
  readonly answer: Answer | 'ours' | 'theirs';
};

const HEADING =
  /^(recorded here|recorded elsewhere|decided)( for other files)?: (\S+) between (.+) and (.+)$/;

/** Reads a resolution: a whole file, a value of a structured file, or hunks with their answers. */
export function readAnswer(section: Section): GivenAnswer {
  const [, from = '', others, path = '', ours = '', theirs = ''] =
    HEADING.exec(section.words) ?? [];
  if (from !== 'recorded here' && from !== 'recorded elsewhere' && from !== 'decided') {
    throw new Error(`"-- ${section.words}" is no resolution`);
  }
  const isExact = others === undefined;
  return { from, isExact, path, layers: [ours, theirs], answer: answerOf(path, section) };
}

/** Adds a resolution to those that are known, as its subject the conflict that it was made for. */
export function withAnswer(
  known: KnownAnswers,
  { from, isExact, path, layers, answer: given }: GivenAnswer,
  conflicts: readonly Conflict[],
): KnownAnswers {
  const conflict = conflicts.find((one) => one.path === path);
  if (isExact && conflict === undefined) throw new Error(`this case has no conflict in ${path}`);
  const subject: Subject = {
    ...(isExact && conflict ? subjectOf(conflict) : elsewhere(path)),
    layers,
  };
  const answer = typeof given === 'string' ? sideOf(conflict, given) : given;
  if (from === 'decided') {
    const decision = { subject, answer, origin: 'owner', amended: null };
    return { ...known, decisions: [...known.decisions, decision] };
  }
  const key = resolutionKey(subject, answer);
  const isOwn = from === 'recorded here';
  const recording = { key, subject, answer, origin: 'owner', digest: digestBytes(key), isOwn };
  return { ...known, resolutions: [...known.resolutions, recording] };
}

function elsewhere(path: string): Omit<Subject, 'layers'> {
  const other = digestBytes('another file');
  return { path, kind: 'content', sides: { base: other, ours: other, theirs: other } };
}

function sideOf(conflict: Conflict | undefined, side: 'ours' | 'theirs'): Answer {
  if (conflict === undefined)
    throw new Error('only a conflict of this case has sides to decide for');
  return { kind: 'file', file: conflict.sides[side] };
}

function answerOf(path: string, section: Section): GivenAnswer['answer'] {
  const { flags, text } = section;
  if (flags.has('ours')) return 'ours';
  if (flags.has('theirs')) return 'theirs';
  if (flags.has('absent') || flags.has('whole file'))
    return { kind: 'file', file: fileOf(section) };
  if (path.includes('#')) return { kind: 'value', value: parse(text) };
  return { kind: 'hunks', hunks: hunksOf(text) };
}

/** Reads hunks with markers; the lines below each of them resolve it. */
function hunksOf(text: string): readonly AnsweredHunk[] {
  const parts = parseConflicts(Buffer.from(text).toString('latin1'), 7);
  return parts.flatMap((part, at) => {
    if (part.kind === 'resolved') return [];
    const { base, ours, theirs } = part;
    const below = parts[at + 1];
    return [{ base, ours, theirs, resolved: below?.kind === 'resolved' ? below.lines : [] }];
  });
}

import type { TreeFile, Versions } from '@patchclaw/merge';
import type { Conflict, ConflictKind } from '../conflict.ts';
import { type Digest, digestBytes, digestFile, type FileDigest } from '../digest.ts';

/** A hunk of a conflict and the lines that resolve it, all read as latin1. */
export type AnsweredHunk = Versions<readonly string[]> & {
  readonly resolved: readonly string[];
  /** The author of ours of this hunk, where it is not the layer that the subject names. */
  readonly author?: string;
};

/** The resolution of a conflict: text for its hunks and nothing else, a whole file, or a value. */
export type Answer =
  | { readonly kind: 'hunks'; readonly hunks: readonly AnsweredHunk[] }
  | { readonly kind: 'file'; readonly file: TreeFile | null }
  | { readonly kind: 'value'; readonly value: unknown };

/** The conflict that an answer belongs to: its path and all of its sides. */
export type Subject = {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly layers: readonly [ours: string, theirs: string];
  /** Digests of the whole files; of the values, for a structured conflict. */
  readonly sides: Versions<FileDigest | 'absent'>;
};

/** A conflict that was resolved once, recorded so that the owner is not asked again. */
export type Resolution = {
  /** Sixteen hexadecimal digits over subject and answer. */
  readonly key: string;
  readonly subject: Subject;
  readonly answer: Answer;
  /** `owner`, or the model that proposed it. */
  readonly origin: string;
  /** The digest of the recording's own bytes. */
  readonly digest: Digest;
  /** This installation made it; it then also holds where the same hunk recurs. */
  readonly isOwn: boolean;
};

export function subjectOf(conflict: Conflict): Subject {
  const { path, kind, layers, sides, values } = conflict;
  const digests =
    values === null
      ? { base: sideOf(sides.base), ours: sideOf(sides.ours), theirs: sideOf(sides.theirs) }
      : {
          base: valueDigest(values.base),
          ours: valueDigest(values.ours),
          theirs: valueDigest(values.theirs),
        };
  return { path, kind, layers, sides: digests };
}

/** Tells whether two conflicts are the same to the byte, between whichever layers. */
export function isSameSubject(one: Subject, other: Subject): boolean {
  return (
    one.path === other.path &&
    one.kind === other.kind &&
    one.sides.base === other.sides.base &&
    one.sides.ours === other.sides.ours &&
    one.sides.theirs === other.sides.theirs
  );
}

/** Returns the name of a recording: the same for the same answer to the same conflict, wherever it was made. */
export function resolutionKey(subject: Subject, answer: Answer): string {
  const text = JSON.stringify([
    subject.path,
    subject.kind,
    subject.layers,
    subject.sides.base,
    subject.sides.ours,
    subject.sides.theirs,
    plainAnswer(answer),
  ]);
  return digestBytes(text).slice('sha256:'.length, 'sha256:'.length + 16);
}

/** Tells whether two answers come to the same. */
export function isSameAnswer(one: Answer, other: Answer): boolean {
  return JSON.stringify(plainAnswer(one)) === JSON.stringify(plainAnswer(other));
}

function plainAnswer(answer: Answer): unknown {
  if (answer.kind === 'value') return ['value', answer.value ?? null];
  if (answer.kind === 'file') return ['file', sideOf(answer.file)];
  return ['hunks', answer.hunks.map((hunk) => [hunk.base, hunk.ours, hunk.theirs, hunk.resolved])];
}

function sideOf(file: TreeFile | null): FileDigest | 'absent' {
  return file === null ? 'absent' : digestFile(file);
}

/** Computes the digest of a value that a side of a structured conflict wants. */
export function valueDigest(value: unknown): Digest | 'absent' {
  return value === undefined || value === null ? 'absent' : digestBytes(JSON.stringify(value));
}

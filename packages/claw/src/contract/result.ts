import type { z } from 'zod';
import type { Conflict } from '../conflict.ts';
import type { ClawError, CodedError } from '../errors.ts';
import type { DataOf, Verb } from './data-by-verb.ts';
import type { Immutable } from './immutable.ts';
import type * as parts from './parts.ts';

export type ChangeKind = z.output<typeof parts.ChangeKind>;

/** One changed file of the project, as commands report it. */
export type Change = Immutable<z.output<typeof parts.Change>>;

export type Outcome = z.output<typeof parts.Outcome>;

/** A result of any command; `--json` prints it, with the conflicts' open hunks alone. */
export type ResultWith<Name, Data, Failure extends CodedError<string> = ClawError> = {
  readonly verb: Name;
  readonly outcome: Outcome;
  readonly data: Data;
  readonly changes: readonly Change[];
  readonly conflicts: readonly Conflict[];
  readonly warnings: readonly string[];
  readonly error: Failure | null;
};

/** The result of an engine's verb, or of any of several. Data is null where there is nothing to tell. */
export type VerbResult<V extends Verb = Verb> = {
  readonly [One in V]: ResultWith<One, DataOf<One> | null>;
}[V];

/** Returns a result with nothing in it but what is given. */
export function resultOf<V extends Verb>(
  verb: V,
  outcome: Outcome,
  {
    data = null,
    changes = [],
    conflicts = [],
    warnings = [],
    error = null,
  }: Partial<Omit<ResultWith<V, DataOf<V> | null>, 'verb' | 'outcome'>> = {},
): ResultWith<V, DataOf<V> | null> {
  return { verb, outcome, data, changes, conflicts, warnings, error };
}

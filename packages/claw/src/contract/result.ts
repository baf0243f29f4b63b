import type { z } from 'zod';
import type { Conflict } from '../conflict.ts';
import type { ClawError, CodedError } from '../errors.ts';
import type { TreeChangeData } from './changing-verbs.ts';
import type * as json from './json.ts';
import type { SCHEMAS } from './schemas.ts';

// Types of schemas, and no schema: code that only makes or prints results does not load one.

/** The engine's verbs. */
export type Verb = keyof typeof SCHEMAS;

/** The data of a verb's result; a result that ended with an error may have none. */
export type DataOf<V extends Verb> = Immutable<z.output<(typeof SCHEMAS)[V]>>;

export type ChangeKind = z.output<typeof json.ChangeKind>;

/** One changed file of the project, as commands report it. */
export type Change = Immutable<z.output<typeof json.Change>>;

export type Outcome = z.output<typeof json.Outcome>;

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

/** Verbs that compose the tree again, and go the same way. */
export type TreeVerb =
  | 'init'
  | 'adopt'
  | 'apply'
  | 'remove'
  | 'upgrade'
  | 'replay'
  | 'update'
  | 'customize'
  | 'rebase'
  | 'pack';

/** Data that all of them have. */
export type TreeChange = Immutable<z.output<typeof TreeChangeData>>;

/** Data of such a verb beside the common. */
export type ExtraOf<V extends TreeVerb> = Beside<DataOf<V>>;

type Beside<Data> = Data extends TreeChange ? Omit<Data, keyof TreeChange> : never;

/** A value that may not be changed, at any depth: results are data to read. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

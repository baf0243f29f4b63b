import type { DataOf, ResultWith, Verb } from '../commands.ts';
import type { CommandError } from './cli-error.ts';
import type { DoctorData } from './render/doctor.ts';

/** Data of verbs that a program beside the engine adds its own to. */
type OwnData = {
  readonly status: DataOf<'status'> & { readonly assistant?: AssistantData };
  readonly doctor: DoctorData;
};

/** What a program beside the engine adds to `claw status`; with `--json`, all that it holds. */
type AssistantData = { readonly budgets: { readonly summary: string } };

type DataByVerb = { readonly [V in Exclude<Verb, keyof OwnData>]: DataOf<V> } & OwnData;

/** The verbs of the command line that end with a result. */
export type CliVerb = keyof DataByVerb;

/** The result of a verb of the command line, or of any of several. */
export type CliResult<V extends CliVerb = CliVerb> = {
  readonly [One in V]: ResultWith<One, DataByVerb[One] | null>;
}[V];

/** The result of a verb of `src/verbs/`, which brings its own lines for people. */
export type DiscoveredResult = ResultWith<string, unknown> & { readonly lines: readonly string[] };

/** Any result that is printed. */
export type PrintedResult = CliResult | DiscoveredResult | Failure;

/** A result as far as it is printed as JSON, or ends the process. */
export type AnyResult = ResultWith<string, unknown, CommandError>;

/** The end of a verb that could not do its work. */
export type Failure = ResultWith<string, null, CommandError> & { readonly error: CommandError };

/** Returns the result of a verb that changes no file of the project. */
export function ended<const Name extends string, Data>(
  verb: Name,
  data: Data,
  outcome: AnyResult['outcome'] = 'done',
): ResultWith<Name, Data> {
  return { verb, outcome, data, changes: [], conflicts: [], warnings: [], error: null };
}

import type { DoctorData } from '../verbs/doctor/doctor.ts';
import type { StatusData } from '../verbs/status.ts';
import type { Conflict, DataOf, ResultWith, Verb } from '../verbs.ts';
import type { CommandError } from './command-error.ts';

/** Data of verbs that a program beside the engine adds its own to. */
type OwnData = {
  readonly status: StatusData;
  readonly doctor: DoctorData;
};

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

/** The part of a result that is printed as JSON, or that ends the process. */
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

/** Returns the one object that `--json` prints, on every exit code. */
export function renderJson(result: AnyResult): string {
  const { verb, outcome, data, changes, conflicts, warnings, error } = result;
  return JSON.stringify({
    ok: error === null && outcome !== 'blocked' && outcome !== 'failed',
    verb,
    outcome,
    data,
    changes,
    conflicts: conflicts.map(conflictJson),
    warnings,
    error: error && {
      code: error.code,
      message: error.message,
      path: error.path,
      data: error.data,
    },
  });
}

function conflictJson({ path, kind, layers, reason, hunks, candidates = [] }: Conflict): object {
  const disagreements = hunks.flatMap((hunk) =>
    hunk.kind === 'conflict'
      ? [{ base: text(hunk.base), ours: text(hunk.ours), theirs: text(hunk.theirs) }]
      : [],
  );
  return { path, kind, layers, reason, hunks: disagreements, candidates };
}

// The merge works on bytes as latin1, so that none is lost; people read them as UTF-8.
function text(lines: readonly string[]): string {
  return Buffer.from(lines.join(''), 'latin1').toString('utf8');
}

import { setImmediate } from 'node:timers/promises';
import type { Conflict } from '../conflict.ts';
import { resultOf, type VerbResult } from '../contract/result.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import type { EngineContext } from '../operation/context.ts';
import type { MatrixCell } from './matrix/cell.ts';
import { composeSkills } from './matrix/composing.ts';
import type { Entry } from './matrix/entry.ts';
import type { MatrixInput } from './matrix/input.ts';
import { proveEntries } from './matrix/prove-entries.ts';
import { cellOf, conflictsOf, dataOf, verdictOf } from './matrix/report.ts';
import { type Combination, pairsOf, triplesOf } from './matrix/shares.ts';

/** The request for a matrix. */
export type MatrixRequest = {
  /** Names under `skills/`, folders, tarballs or git addresses; all of `skills/` where empty. */
  readonly skills: readonly string[];
  /** The core to compose on, a git ref or a folder; null for the installation's own. */
  readonly release: string | null;
  /** At most so many triples. */
  readonly triples: number;
  /** True if checks and tests run. */
  readonly isProved: boolean;
  /** So many installations and proofs at a time. */
  readonly jobs: number;
};

/**
 * Composes skills on the core, each alone, in pairs that have something in common and in some triples,
 * and proves what composes. Changes nothing, and takes no lock.
 *
 * `outcome` is `failed` where checks, tests or npm fail, else `blocked` where skills conflict, else
 * `refused` where a package or a combination is.
 *
 * @throws ClawError INTERRUPTED
 */
export async function matrix(
  context: EngineContext,
  request: MatrixRequest,
  input: MatrixInput,
): Promise<VerbResult<'matrix'>> {
  const { candidates, installation } = input;
  const packages = candidates.flatMap((one) => (one.kind === 'package' ? [one.package] : []));
  const small = await tryEach(context, { request, input }, [
    ...candidates.map(({ name }) => ({ skills: [name], shares: [] })),
    ...pairsOf(packages, installation.pathMaps),
  ]);
  const sound = small.cells.filter(({ outcome }) => outcome === 'clean' || outcome === 'resolved');
  const chosen = triplesOf(sound, request.triples);
  const large = await tryEach(context, { request, input }, chosen);
  const data = dataOf(input, request.isProved, [...small.cells, ...large.cells]);
  const { outcome, error } = verdictOf(data);
  const warnings = [...input.warnings, ...small.warnings, ...large.warnings];
  return resultOf('matrix', outcome, {
    data,
    conflicts: [...small.conflicts, ...large.conflicts],
    warnings: [...new Set(warnings)],
    error,
  });
}

type Tried = {
  readonly cells: readonly MatrixCell[];
  readonly conflicts: readonly Conflict[];
  readonly warnings: readonly string[];
};

type Work = { readonly request: MatrixRequest; readonly input: MatrixInput };

async function tryEach(
  context: EngineContext,
  { request, input }: Work,
  combinations: readonly Combination[],
): Promise<Tried> {
  if (combinations.length === 0) return { cells: [], conflicts: [], warnings: [] };
  const entries = await composeEach(context, input, combinations);
  const { byLayers, warnings } = request.isProved
    ? await proveEntries(context, input, { entries, jobs: request.jobs })
    : { byLayers: new Map(), warnings: [] };
  const cells = entries.map((entry) => cellOf(entry, byLayers));
  return { cells, conflicts: conflictsOf(entries), warnings };
}

async function composeEach(
  { signal, onProgress }: EngineContext,
  input: MatrixInput,
  combinations: readonly Combination[],
): Promise<readonly Entry[]> {
  const count = combinations.length === 1 ? '1 combination' : `${combinations.length} combinations`;
  onProgress({ kind: 'step', text: `Composing ${count}` });
  const entries: Entry[] = [];
  for (const combination of combinations) {
    // Composing never waits for anything: without a pause a signal would not come through.
    await setImmediate();
    throwIfInterrupted(signal);
    const started = performance.now();
    const composed = await composeSkills(input, combination.skills);
    entries.push({ combination, composed, ms: performance.now() - started });
  }
  onProgress({ kind: 'done', text: `Composed ${count}` });
  return entries;
}

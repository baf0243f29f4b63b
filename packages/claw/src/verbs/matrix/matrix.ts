import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Conflict } from '../../conflict.ts';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { ClawError, type ErrorCode } from '../../errors.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { EngineContext } from '../../operation/context.ts';
import type { ProofRunner } from '../../operation/proof-runner.ts';
import {
  type CellFailure,
  composeSkills,
  type Entry,
  isComposed,
  layersKey,
  type Verdict,
} from './combination.ts';
import type { CellOutcome, MatrixCell, MatrixData, MatrixInput } from './input.ts';
import { leavingNothing, openLocalRunner, proveEntries, proveOne } from './prove-combinations.ts';
import { type Combination, pairsOf, triplesOf } from './shares.ts';

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
  /** So many installations and proofs at a time, on this machine. */
  readonly jobs: number;
  /** The proof runner to use, such as `far`; null for this machine. */
  readonly on: string | null;
  /** Chooses which proofs other machines run twice; null for any. */
  readonly seed: string | null;
};

/**
 * Composes skills on the core, each alone, in pairs that have something in common and in some triples, and proves
 * each composition. Changes nothing, and takes no lock.
 *
 * `outcome` is `failed` if checks, tests or npm fail; otherwise `blocked` if skills conflict; otherwise `refused` if
 * a package or a combination is refused.
 *
 * @throws ClawError INTERRUPTED; USAGE where no skill brings the runner that is asked for
 */
export async function matrix(
  context: EngineContext,
  request: MatrixRequest,
  input: MatrixInput,
): Promise<VerbResult<'matrix'>> {
  const { cells, conflicts, warnings } = await leavingNothing(context.root, async () => {
    const local = openLocalRunner(context, request.jobs);
    const runner = await openRunner(context, request, local);
    let tried: Tried;
    let said: readonly string[] = [];
    try {
      do {
        tried = await tryAll(context, { request, input, runner });
      } while (runner.takeWithdrawn());
    } finally {
      said = await runner.close();
      if (runner !== local) await local.close();
    }
    return { ...tried, warnings: [...tried.warnings, ...said] };
  });
  const data = dataOf(input, request.isProved, cells);
  const { outcome, error } = verdictOf(data);
  const all = [...new Set([...input.warnings, ...warnings])];
  return resultOf('matrix', outcome, { data, conflicts, warnings: all, error });
}

async function openRunner(
  { root, openProofRunner, onProgress, signal }: EngineContext,
  { on, seed, isProved }: MatrixRequest,
  local: ProofRunner,
): Promise<ProofRunner> {
  if (on === null || !isProved) return local;
  if (openProofRunner === undefined) {
    throw new ClawError('USAGE', `Nothing here runs proofs on "${on}". Leave out --on.`);
  }
  return await openProofRunner(on, {
    root,
    seed: seed ?? randomUUID(),
    proveHere: (job) => proveOne(local, job),
    onProgress: (text) => onProgress({ kind: 'note', text }),
    signal,
  });
}

async function tryAll(context: EngineContext, work: Work): Promise<Tried> {
  const { candidates, installation } = work.input;
  const packages = candidates.flatMap((one) => (one.kind === 'package' ? [one.package] : []));
  const small = await tryEach(context, work, [
    ...candidates.map(({ name }) => ({ skills: [name], shares: [] })),
    ...pairsOf(packages, installation.pathMaps),
  ]);
  const sound = small.cells.filter(({ outcome }) => outcome === 'clean' || outcome === 'resolved');
  const large = await tryEach(context, work, triplesOf(sound, work.request.triples));
  return {
    cells: [...small.cells, ...large.cells],
    conflicts: [...small.conflicts, ...large.conflicts],
    warnings: [...small.warnings, ...large.warnings],
  };
}

/** Makes the cell of a combination. */
function cellOf(
  { combination, composed, ms }: Entry,
  verdicts: ReadonlyMap<string, Verdict>,
): MatrixCell {
  const empty = { conflicts: [], resolutions: [], failures: [], refusal: null };
  if (composed.kind !== 'composed') {
    const refusal = composed.kind === 'refused' ? refusalOf(composed.error) : null;
    return { ...combination, ...empty, outcome: composed.kind, refusal, ms: Math.round(ms) };
  }
  const { conflicts, resolvedConflicts } = composed.composition;
  const verdict = isComposed(composed) ? verdicts.get(layersKey(composed)) : undefined;
  const found = {
    conflicts: conflicts.map(({ path, kind, layers, reason }) => ({ path, kind, layers, reason })),
    resolutions: [...new Set(resolvedConflicts.flatMap(({ keys }) => keys))].sort(),
    failures: [...(composed.isOrderless ? [] : [ORDER]), ...(verdict?.failures ?? [])],
  };
  const outcome = outcomeOfFound(found);
  const took = Math.round(ms + (verdict?.ms ?? 0));
  return { ...combination, ...empty, ...found, outcome, ms: took };
}

/** Returns all cells, counted. */
function dataOf(
  { core, candidates }: MatrixInput,
  isProved: boolean,
  cells: readonly MatrixCell[],
): MatrixData {
  const count = (outcome: CellOutcome) => cells.filter((cell) => cell.outcome === outcome).length;
  return {
    core,
    proved: isProved,
    skills: candidates.map(({ name }) => name),
    cells,
    summary: {
      clean: count('clean'),
      resolved: count('resolved'),
      excluded: count('excluded'),
      conflict: count('conflict'),
      failing: count('failing'),
      refused: count('refused'),
    },
  };
}

/** Decides how the verb ends: by the worst of its cells. */
function verdictOf({ cells, summary }: MatrixData): Pick<VerbResult, 'outcome' | 'error'> {
  if (summary.failing > 0) return { outcome: 'failed', error: failureOf(cells) };
  if (summary.conflict > 0) return { outcome: 'blocked', error: null };
  if (summary.refused > 0) return { outcome: 'refused', error: refusedOf(cells) };
  return { outcome: cells.length === 0 ? 'nothing' : 'done', error: null };
}

/** Returns each disagreement once, although every larger combination shows it again. */
function conflictsOf(entries: readonly Entry[]): readonly Conflict[] {
  const found = new Map<string, Conflict>();
  for (const { composed } of entries) {
    if (composed.kind !== 'composed') continue;
    for (const conflict of composed.composition.conflicts) {
      const key = [conflict.path, ...conflict.layers].join('\n');
      if (!found.has(key)) found.set(key, conflict);
    }
  }
  return [...found.values()];
}

const OTHER_ORDER = 'The same skills in the other order give a different result.';

const ORDER: CellFailure = {
  kind: 'order',
  name: 'order',
  text: OTHER_ORDER,
  output: OTHER_ORDER,
};

function refusalOf({ code, message }: ClawError): MatrixCell['refusal'] {
  return { code, message };
}

function outcomeOfFound(
  found: Pick<MatrixCell, 'conflicts' | 'resolutions' | 'failures'>,
): CellOutcome {
  if (found.failures.length > 0) return 'failing';
  if (found.conflicts.length > 0) return 'conflict';
  return found.resolutions.length > 0 ? 'resolved' : 'clean';
}

const CODES: Readonly<Record<CellFailure['kind'], ErrorCode>> = {
  check: 'CHECKS_FAILED',
  test: 'TESTS_FAILED',
  own: 'TESTS_FAILED',
  npm: 'NPM_FAILED',
  order: 'CHECKS_FAILED',
};

function failureOf(cells: readonly MatrixCell[]): ClawError | null {
  const failing = cells.filter(({ outcome }) => outcome === 'failing');
  const [first] = failing;
  const [failure] = first?.failures ?? [];
  if (first === undefined || failure === undefined) return null;
  const more = failing.length === 1 ? '' : `; ${failing.length} combinations fail in all`;
  const what = failure.kind === 'test' ? `the tests of ${failure.name}` : failure.name;
  return new ClawError(CODES[failure.kind], `${namesOf(first)}: ${what} failed${more}.`);
}

function refusedOf(cells: readonly MatrixCell[]): ClawError | null {
  const refused = cells.find(({ refusal }) => refusal !== null);
  if (!refused?.refusal) return null;
  return new ClawError(refused.refusal.code, `${namesOf(refused)}: ${refused.refusal.message}`);
}

function namesOf({ skills }: MatrixCell): string {
  return skills.join(' + ');
}

type Tried = {
  readonly cells: readonly MatrixCell[];
  readonly conflicts: readonly Conflict[];
  readonly warnings: readonly string[];
};

type Work = {
  readonly request: MatrixRequest;
  readonly input: MatrixInput;
  readonly runner: ProofRunner;
};

async function tryEach(
  context: EngineContext,
  { request, input, runner }: Work,
  combinations: readonly Combination[],
): Promise<Tried> {
  if (combinations.length === 0) return { cells: [], conflicts: [], warnings: [] };
  const entries = await composeEach(context, input, combinations);
  const { byLayers, warnings } = request.isProved
    ? await proveEntries(context, input, { entries, runner })
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

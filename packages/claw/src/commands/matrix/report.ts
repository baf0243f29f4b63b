import type { Conflict } from '../../conflict.ts';
import type { VerbResult } from '../../contract/result.ts';
import { ClawError, type ErrorCode } from '../../errors.ts';
import type { CellFailure, CellOutcome, MatrixCell, MatrixData } from './cell.ts';
import { type Entry, isComposed, layersKey, type Verdict } from './entry.ts';
import type { MatrixInput } from './input.ts';

/** Makes the cell of a combination. */
export function cellOf(
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
export function dataOf(
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
export function verdictOf({ cells, summary }: MatrixData): Pick<VerbResult, 'outcome' | 'error'> {
  if (summary.failing > 0) return { outcome: 'failed', error: failureOf(cells) };
  if (summary.conflict > 0) return { outcome: 'blocked', error: null };
  if (summary.refused > 0) return { outcome: 'refused', error: refusedOf(cells) };
  return { outcome: cells.length === 0 ? 'nothing' : 'done', error: null };
}

/** Returns each disagreement once, although every larger combination shows it again. */
export function conflictsOf(entries: readonly Entry[]): readonly Conflict[] {
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

const OTHER_ORDER = 'The composition is another one where the skills are given in the other order.';

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

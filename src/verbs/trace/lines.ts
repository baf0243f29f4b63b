import { wrap } from '@patchclaw/claw/text';
import { shortened } from '../../lib/graphemes.ts';
import type { TurnRun } from '../../store/turns/turn-runs.ts';
import type { TurnStep } from '../../store/turns/turn-step.ts';
import { printable } from '../../supervisor/console/printable.ts';
import { fittedTable } from './fitted-table.ts';

const ID_LENGTH = 8;

/** Columns that a narrow terminal does without, the first one first. */
const LIST_LEAVING = ['calls', 'tools', 'tokens', 'time', 'began', 'model'];
const RUN_LEAVING = ['cache', 'at', 'in', 'out', 'time'];

/**
 * Returns runs as a table, the newest first.
 *
 * @param columns of the terminal; null where there is none
 */
export function listLines(runs: readonly TurnRun[], columns: number | null): readonly string[] {
  if (runs.length === 0) return ['No turn has been recorded yet.'];
  const head = ['turn', 'began', 'chat', 'model', 'calls', 'tools', 'tokens', 'cost', 'time', ''];
  const rows = runs.map((run) => [
    run.turnId.slice(0, ID_LENGTH),
    localTime(run.startedAt),
    cut(run.chatName, 20),
    cut(run.model ?? '-', 30),
    `${run.modelCalls}`,
    `${run.toolCalls}`,
    tokensOf(run).toLocaleString('en'),
    costOf(run),
    seconds(run.endedAt - run.startedAt),
    outcomeOf(run),
  ]);
  const table = { head, rows, sides: 'llllrrrrrl', named: 'model', leaving: LIST_LEAVING };
  return [...fittedTable(table, columns), '', '`npx claw trace <turn>` shows the steps of one.'];
}

/** Returns one run with its steps. */
export function runLines(
  run: TurnRun,
  steps: readonly TurnStep[],
  columns: number | null,
): readonly string[] {
  const head = ['', 'at', 'time', 'step', 'name', 'in', 'out', 'cache', 'cost', ''];
  const rows = steps.map((step, index) => [
    `${index + 1}`,
    seconds(step.startedMs),
    seconds(step.durationMs),
    KINDS[step.kind],
    cut(step.name, 40),
    ...(step.kind === 'model' ? spendingOf(step) : ['', '', '', '']),
    step.error === null ? '' : 'failed',
  ]);
  const table = { head, rows, sides: 'rrrllrrrrl', named: 'name', leaving: RUN_LEAVING };
  const leftOut = run.leftOut > 0 ? [`(and ${run.leftOut} more steps, which are not kept)`] : [];
  const parts = [
    counted(run.modelCalls, 'model call'),
    counted(run.toolCalls, 'tool call'),
    `${tokensOf(run).toLocaleString('en')} tokens`,
    costOf(run).replace('unknown', 'price unknown'),
  ];
  return [
    `Turn ${run.turnId} in ${cut(run.chatName, 80)}, ${localTime(run.startedAt)}`,
    `${outcomeOf(run)} after ${seconds(run.endedAt - run.startedAt)}: ${parts.join(', ')}`,
    '',
    ...(rows.length === 0 ? ['It took no step.'] : fittedTable(table, columns)),
    ...leftOut,
    ...failureLines(steps, columns),
  ];
}

/** Returns why steps failed, whole: a table would cut it where it begins to tell. */
function failureLines(steps: readonly TurnStep[], columns: number | null): readonly string[] {
  const failures = steps.flatMap(({ error, name }, index) =>
    error === null ? [] : [`${index + 1} failed: ${cut(name, 40)}: ${cut(error, 200)}`],
  );
  if (failures.length === 0) return [];
  return ['', ...failures.flatMap((line) => wrap(line, columns ?? Infinity).split('\n'))];
}

const KINDS = { model: 'model', host_tool: 'tool', own_tool: 'own tool' } as const;

function spendingOf(step: TurnStep): readonly string[] {
  return [
    (step.inputTokens + step.cacheWriteTokens).toLocaleString('en'),
    step.outputTokens.toLocaleString('en'),
    step.cacheReadTokens.toLocaleString('en'),
    step.error === null ? moneyOf(step.microUsd) : '',
  ];
}

function tokensOf(run: TurnRun): number {
  return run.inputTokens + run.cacheWriteTokens + run.cacheReadTokens + run.outputTokens;
}

function costOf({ microUsd, unpricedCalls }: TurnRun): string {
  if (unpricedCalls === 0) return moneyOf(microUsd);
  return microUsd === 0 ? 'unknown' : `${moneyOf(microUsd)}+`;
}

function moneyOf(microUsd: number | null): string {
  return microUsd === null ? 'unknown' : `$${(microUsd / 1_000_000).toFixed(4)}`;
}

function outcomeOf({ state, error }: TurnRun): string {
  const word = state.replace('_', ' ');
  return error === null ? word : `${word} (${error})`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** Returns one line of a text of other people's, and no more of it than fits. */
function cut(text: string, length: number): string {
  const plain = printable(text).replace(/\s+/g, ' ').trim();
  return shortened(plain, length);
}

function localTime(moment: number): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return format.format(new Date(moment));
}

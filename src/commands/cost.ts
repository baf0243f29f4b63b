import { tokens, usd } from '../host/budget/amount.ts';
import type { CostReport } from '../host/budget/cost-report.ts';
import { defineCommand } from '../host/contracts/command.ts';
import type { Spending, TurnRun } from '../store/store.ts';

export const command = defineCommand({
  scope: 'members',
  name: 'cost',
  topic: 'work',
  help: 'show what the last answer here cost, and all of today; in the owner’s own chats, of all chats and models',
  run: async ({ costs }) => textOf(costs()),
});

function textOf({ lastTurn, here, read, all, models }: CostReport): string {
  const { total, chats } = all ?? { total: here, chats: [] };
  const where = all === null ? 'Today in this chat' : 'Today';
  return [
    lastTurn === null ? 'No turn has been recorded here yet.' : lastTurnLine(lastTurn),
    `${where}: ${spent(total)}${readToday(read)}.`,
    ...listOf(
      'By chat:',
      chats.map((chat) => `${chat.name}: ${spent(chat)}`),
    ),
    ...listOf(
      'By model:',
      models.map((model) => `${model.model}: ${spent(model)}, ${counted(model.calls, 'call')}`),
    ),
    ...(all === null ? [] : ['`npx claw trace` in a shell shows the steps of each turn.']),
  ].join('\n\n');
}

function listOf(head: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [[head, ...lines.map((line) => `- ${line}`)].join('\n')];
}

function lastTurnLine(run: TurnRun): string {
  const { inputTokens, cacheWriteTokens, cacheReadTokens, outputTokens } = run;
  const read = inputTokens + cacheWriteTokens + cacheReadTokens;
  const cached =
    cacheReadTokens > 0 ? `, ${cacheReadTokens.toLocaleString('en')} of them from the cache` : '';
  const money = spent({ ...run, tokens: read + outputTokens });
  const parts = [
    `${money} (${read.toLocaleString('en')} in${cached}, ${outputTokens.toLocaleString('en')} out)`,
    `${counted(run.modelCalls, 'model call')}, ${counted(run.toolCalls, 'tool call')}`,
    `${((run.endedAt - run.startedAt) / 1_000).toFixed(1)} s`,
    ...(run.model === null ? [] : [run.model]),
  ];
  const failed = run.state === 'cut_off' ? 'was cut off' : 'failed';
  const how = run.state === 'answered' ? '' : `, which ${failed} (${run.error ?? run.state})`;
  return `The last turn here${how}: ${parts.join('; ')}.`;
}

function readToday({ cached, uncached }: CostReport['read']): string {
  if (cached + uncached === 0) return '';
  return ` (${uncached.toLocaleString('en')} read, ${cached.toLocaleString('en')} read from the cache)`;
}

function spent({
  microUsd,
  tokens: count,
  unpricedCalls,
  mostTokens = null,
}: Spending & { readonly mostTokens?: number | null }): string {
  const isUnknown = unpricedCalls > 0;
  const money = isUnknown && microUsd === 0 ? 'price unknown' : usd(microUsd);
  const more = isUnknown && microUsd > 0 ? ' and what is unknown' : '';
  const most = mostTokens === null ? '' : ` of ${mostTokens.toLocaleString('en')} a day`;
  return `${money}${more}, ${tokens(count)}${most}`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

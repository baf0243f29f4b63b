import { join } from 'node:path';
import { type ReadOnlyQueries, withReadOnlyQueries } from '../store/read-only-queries.ts';
import type { TurnRun } from '../store/turns/turn-runs.ts';
import { defineVerb, VerbError } from '../verb.ts';
import { namedChats } from './assistant/named-chat.ts';
import { listLines, runLines } from './trace/lines.ts';

const LISTED = 20;
const MOST_LISTED = 1_000;

/** Shows what agents did in their turns, step by step, and what that cost. */
export const verb = defineVerb({
  name: 'trace',
  help: 'show the steps and the cost of a turn; without one, the newest turns',
  usage: { argument: '[turn]', help: 'its id, or the beginning of it' },
  options: [
    { flags: '--chat <name>', help: 'turns of this chat only' },
    { flags: '--last <count>', help: `how many of the newest turns, ${LISTED} by default` },
  ],
  create:
    ({ dataDir }) =>
    async ({ words, options, columns }) => {
      const [turn, ...more] = words;
      if (more.length > 0) throw new VerbError('usage', 'Name one turn: npx claw trace 3f2a81c0.');
      return withReadOnlyQueries(join(dataDir, 'claw.db'), (queries) =>
        turn === undefined ? newest(queries, options, columns) : traceOf(queries, turn, columns),
      );
    },
});

function newest(
  queries: ReadOnlyQueries,
  options: Readonly<Record<string, unknown>>,
  columns: number | null,
) {
  const limit = Number(options['last'] ?? LISTED);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw new VerbError('usage', `Say how many turns: --last 50, ${MOST_LISTED} at most.`);
  }
  const runs = queries.turnRuns.newest(limit, folderOf(queries, options['chat']));
  return { data: { turns: runs.map(runData) }, lines: listLines(runs, columns) };
}

function folderOf(queries: ReadOnlyQueries, chat: unknown): string | undefined {
  if (typeof chat !== 'string') return undefined;
  const [{ group }] = namedChats(queries.chats(), chat);
  if (group !== null) return group.folder;
  throw new VerbError('usage', `${chat} is not registered, so no agent has worked there.`);
}

function traceOf(queries: ReadOnlyQueries, turn: string, columns: number | null) {
  const runs = queries.turnRuns.ofTurn(turn);
  const ids = [...new Set(runs.map(({ turnId }) => turnId))];
  if (ids.length > 1) {
    throw new VerbError('usage', `Several turns begin so: ${ids.slice(0, 5).join(', ')}.`);
  }
  if (runs.length === 0) {
    throw new VerbError(
      'usage',
      `No turn ${turn} is recorded: \`npx claw trace\` lists the newest. Commands have no steps.`,
    );
  }
  const traces = runs.map((run) => ({ run, steps: queries.turnRuns.stepsOf(run.seq) }));
  return {
    data: { runs: traces.map(({ run, steps }) => ({ ...runData(run), steps })) },
    lines: traces.flatMap(({ run, steps }, index) => [
      ...(index === 0 ? [] : ['', 'Run again:', '']),
      ...runLines(run, steps, columns),
    ]),
  };
}

function runData({ seq: _, startedAt, endedAt, chatName, ...run }: TurnRun) {
  return {
    ...run,
    chat: chatName,
    startedAt: new Date(startedAt).toISOString(),
    durationMs: endedAt - startedAt,
  };
}

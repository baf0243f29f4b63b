import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Board } from './board.ts';
import { completion, ModelServer } from './model.ts';

const DEVICE = fileURLToPath(new URL('../../../device/', import.meta.url));

/** Bytes of the files whose paths fit. */
function sizeOf(isOne: (path: string) => boolean): number {
  return readdirSync(DEVICE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isOne(`${entry.parentPath}/${entry.name}`))
    .reduce((sum, { parentPath, name }) => sum + statSync(`${parentPath}/${name}`).size, 0);
}

const KB = 1024;
/** The seed's budgets. */
const CODE = 100 * KB;
const WORKSPACE = 50 * KB;
const PEAK = 450 * KB;

/** A board collects when the code asks for it, and WebAssembly when a call ends: one ends before each round. */
const COLLECTING = `
import boardlink
chat = app.agent.provider.chat
async def collecting(*args, **kwargs):
    await boardlink.collect()
    return await chat(*args, **kwargs)
app.agent.provider.chat = collecting`;

test('code, workspace and heap stay within the budget of the board', async () => {
  const code = sizeOf((path) => path.endsWith('.py'));
  const workspace = sizeOf((path) => path.includes('/workspace/'));
  const lines = Array.from({ length: 20 }, () =>
    JSON.stringify({ role: 'user', content: 'y'.repeat(1000) }),
  );
  await using model = await ModelServer.start(
    'Hello.',
    { tool: 'write_file', arguments: { path: 'a.txt', content: 'z'.repeat(10_000) } },
    { tool: 'read_file', arguments: { path: 'a.txt' } },
    (_, response) => response.end(JSON.stringify(completion('w'.repeat(48 * KB)))),
  );
  await using board = await Board.start({
    config: { provider: model.provider },
    files: { '/data/sessions/uart_uart_default.jsonl': `${lines.join('\n')}\n` },
  });
  await board.run(COLLECTING);
  const runsOn = await board.value('sys.version', 'import sys');
  expect(runsOn).toMatch(/MicroPython v\d/);
  const start = Number(await board.value('gauge.mem_alloc()'));
  await board.ask('Hello');
  const ordinary = Number(await board.value('gauge.peak'));
  expect(await board.ask('Do your worst')).toHaveLength(48 * KB);
  const peak = Number(await board.value('gauge.peak'));
  console.log(
    [
      `runs on    ${runsOn}`,
      `code       ${code} bytes of ${CODE}`,
      `workspace  ${workspace} bytes of ${WORKSPACE}`,
      `start      ${start} bytes of heap, before the first message`,
      `ordinary   ${ordinary} bytes of heap at most, in a turn with a full history`,
      `peak heap  ${peak} bytes of ${PEAK}, with a full history, 10 KB written and read, 48 KB of answer`,
    ].join('\n'),
  );
  expect(code).toBeLessThan(CODE);
  expect(workspace).toBeLessThan(WORKSPACE);
  expect(peak).toBeLessThan(PEAK);
});

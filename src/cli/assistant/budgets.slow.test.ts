import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { localDay } from '../../host/budget/local-day.ts';
import { openStore } from '../../store/store.ts';

const CLAW = resolve(import.meta.dirname, '../../../bin/claw.js');
const DAY = localDay(Date.now(), Intl.DateTimeFormat().resolvedOptions().timeZone);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-spent-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('claw status tells what the assistant has spent, while it runs or not', async () => {
  const store = openStore({ path: join(dir, 'data/claw.db'), now: 1 });
  const jid = 'chat:family';
  store.chats.see({ jid, channel: 'chat', name: 'Family', isDirect: false }, 1);
  const group = { jid, folder: 'family', name: 'Family', triggerWord: null };
  store.groups.register({ ...group, needsTrigger: true, isMain: false }, 1);
  store.usage.add({
    day: DAY,
    folder: 'family',
    model: 'm',
    inputTokens: 1_000,
    cacheWriteTokens: 20,
    cacheReadTokens: 300,
    outputTokens: 4,
    microUsd: 4_500_000,
  });
  writeFileSync(join(dir, '.env'), 'BUDGET_TOTAL_USD=20\n');
  const running = await status();
  store.close();
  expect((await status()).data).toEqual(running.data);
  const spent = { microUsd: 4_500_000, tokens: 1_324, unpricedCalls: 0 };
  const limits = { limitMicroUsd: 5_000_000, limitTokens: null };
  expect(running.data.assistant).toEqual({
    budgets: {
      day: DAY,
      total: { ...spent, limitMicroUsd: 20_000_000, limitTokens: null },
      groups: [{ folder: 'family', name: 'Family', ...spent, ...limits }],
      summary: '$4.50 of $20.00 (22%) today; Family $4.50 of $5.00 (90%)',
    },
  });
  expect(running.text).toContain(
    'budget  $4.50 of $20.00 (22%) today; Family $4.50 of $5.00 (90%)\n',
  );
});

test.each([
  ['no database', null, ''],
  ['a file that is none', 'hello, this is not a database', ''],
  ['one of an earlier version', '', ''],
  ['a setting that is wrong', '', 'BUDGET_USD=much\n'],
])('claw status says nothing of spending where there is %s', async (_name, database, env) => {
  mkdirSync(join(dir, 'data'));
  if (database !== null) writeFileSync(join(dir, 'data/claw.db'), database);
  writeFileSync(join(dir, '.env'), env);
  const { data, text } = await status();
  expect(data).not.toHaveProperty('assistant');
  expect(text).not.toContain('budget');
  expect(existsSync(join(dir, 'data/claw.db'))).toBe(database !== null);
  expect(readdirSync(join(dir, 'data')).filter((name) => name !== 'claw.db')).toEqual([]);
});

async function status() {
  const run = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: dir };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [CLAW, 'status', '--cwd', dir, ...args],
      { env },
    );
    return stdout;
  };
  const [json, text] = await Promise.all([run('--json'), run()]);
  return { data: JSON.parse(json).data as Record<string, unknown>, text };
}

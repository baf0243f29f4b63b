import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openStore } from '../store.ts';

/** Tables that grow for as long as the assistant lives. */
const GROWING = ['messages', 'turns', 'outbox'];

let dir: string;
const statements = new Set<string>();
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-plans-'));
  const prepare = vi.spyOn(Database.prototype, 'prepare');
  const store = openStore({ path: join(dir, 'claw.db'), now: 0 });
  store.turns.counts();
  store.close();
  for (const [sql] of prepare.mock.calls) statements.add(sql);
  prepare.mockRestore();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('no statement reads the whole of a table that grows', () => {
  const database = new Database(join(dir, 'claw.db'));
  const plans = [...statements]
    .filter(isPlanned)
    .map((sql) => [sql, planOf(database, sql)] as const);
  database.close();
  expect(plans.length).toBeGreaterThan(50);
  const scans = plans.flatMap(([sql, plan]) => {
    const names = namesIn(sql);
    return plan
      .filter((step) => names.includes(/^SCAN (\w+)/.exec(step)?.[1] ?? ''))
      .map((step) => `${step}: ${sql}`);
  });
  expect(scans).toEqual([]);
});

test.each([
  ['a message that calls the agent', /SET upto_seq = :seq/, 'turns_to_extend (jid=?)'],
  ['a look for the next turn', /SELECT waiting\.seq.*served/s, 'turns_waiting (kind=?)'],
  [
    'the next message that waits for filters',
    /FROM held_messages WHERE jid = \?/,
    'held_messages_of_chat (jid=?)',
  ],
  ['the reach of what was answered', /SET state = 'claimed'/, 'turns_answered (jid=?)'],
  ['a look for what follows up', /SELECT mine\.jid/, 'turns_to_extend (jid=?)'],
  [
    'whether a chat waits for something',
    /SELECT 1 FROM turns\s+WHERE jid = \?/,
    'turns_open (jid=?)',
  ],
  [
    'what the commands of a chat were',
    /SELECT count.*upto_seq FROM turns/s,
    'turns_of_commands (jid=?)',
  ],
])('%s costs the same after a million messages', (_, which, index) => {
  const sql = [...statements].find((it) => which.test(it)) ?? '';
  const database = new Database(join(dir, 'claw.db'));
  const plan = planOf(database, sql);
  database.close();
  expect(plan.join('\n')).toContain(index);
});

function isPlanned(sql: string): boolean {
  return /^\s*(select|insert|update|delete)\b/i.test(sql);
}

function planOf(database: Database.Database, sql: string): string[] {
  const names = [...sql.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => [name, null] as const);
  const unnamed = sql.match(/\?/g)?.map(() => null) ?? [];
  const explained = database.prepare(`EXPLAIN QUERY PLAN ${sql}`);
  const rows =
    names.length > 0 ? explained.all(Object.fromEntries(names)) : explained.all(...unnamed);
  return rows.map((row) => (row as { readonly detail: string }).detail);
}

/** Returns the growing tables under the names they have in a statement. */
function namesIn(sql: string): string[] {
  const aliases = GROWING.flatMap((table) =>
    [...sql.matchAll(new RegExp(`\\b${table} AS (\\w+)`, 'gi'))].map(([, name = '']) => name),
  );
  return [...GROWING, ...aliases];
}

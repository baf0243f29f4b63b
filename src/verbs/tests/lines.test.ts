import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { discoverMigrations } from '../../store/migrations.ts';
import { withReadOnlyQueries } from '../../store/read-only-queries.ts';
import { TestProject } from '../../testing/assistant.ts';
import type { VerbCall } from '../../verb.ts';
import { tellOrLook } from '../assistant/assistant-answer.ts';
import { groupLines } from '../groups.ts';
import { taskLines } from '../tasks.ts';

const STEERING = '\u001b]0;owned\u0007\u001b[2J\r\u009b31m';

test('names of agents and chats cannot control the terminal', () => {
  const chat = { jid: 'a@b', name: `Club${STEERING}`, channel: null, folder: null, isMain: false };
  const trigger = { needsTrigger: true, trigger: `robot${STEERING}` };
  const task = {
    id: 1,
    folder: 'club',
    chat: `Club${STEERING}`,
    prompt: `feed the cat${STEERING}`,
  };
  const when = {
    kind: 'every',
    schedule: `1 hour${STEERING}`,
    timeZone: 'UTC',
    state: 'active',
    name: null,
  } as const;
  const lines = [
    ...groupLines([
      { ...chat, ...trigger },
      { ...chat, ...trigger, folder: 'club' },
    ]),
    ...taskLines([{ ...task, ...when, nextRun: null, lastRun: null }]),
  ];
  expect(lines.join('')).toContain('feed the cat');
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

test('a database that has not been brought up to date is told of, with the next step', async () => {
  using scratch = new TestProject();
  const path = join(scratch.dir, 'claw.db');
  const database = new Database(path);
  for (const { name, sql } of discoverMigrations('src/store/migrations')) {
    if (name === 'core/24') break;
    database.exec(sql);
  }
  database.close();
  const look = tellOrLook({ isAssistantRunning: async () => false, isJson: false } as VerbCall, {
    dataDir: scratch.dir,
    command: '/tasks',
    isCommand: false,
    linesOf: () => [],
    read: (file) => withReadOnlyQueries(file, (queries) => queries.tasks()),
  });
  await expect(look).rejects.toThrow(/start it once with `npx claw start`/);
});

test('a name that several channels have is shown with its channel', () => {
  const chat = { folder: null, isMain: false, needsTrigger: false, trigger: null };
  const lines = groupLines([
    {
      ...chat,
      jid: 'terminal:main',
      name: 'Terminal',
      channel: 'terminal',
      folder: 'main',
      isMain: true,
    },
    { ...chat, jid: '1', name: 'Ada', channel: 'telegram', folder: 'main', isMain: true },
    { ...chat, jid: '2', name: 'Ada', channel: 'signal' },
  ]);
  expect(lines.slice(0, 5)).toEqual([
    'Registered:',
    '  Terminal (groups/main, one of your own chats)',
    '  Ada on telegram (groups/main, one of your own chats)',
    'Known:',
    '  Ada on signal (2)',
  ]);
});

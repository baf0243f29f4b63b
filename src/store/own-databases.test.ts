import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineChannel } from '../channels/channel.ts';
import { openChannels } from '../channels/channels.ts';
import { defineCommand, openCommands } from '../host/contracts/command.ts';
import { defineService } from '../host/contracts/service.ts';
import { defineTool } from '../host/contracts/tool.ts';
import { openServices } from '../host/services/services.ts';
import { openTools } from '../host/turns/tool-calls/toolbox.ts';
import type { OpenDatabase, OwnDatabases } from '../lib/own-database.ts';
import { TestProject, textsOf } from '../testing/assistant.ts';
import { hears } from '../testing/owner/owner-chat.ts';
import { openOwnDatabases } from './own-databases.ts';

const FIRST = 'CREATE TABLE seen (id TEXT PRIMARY KEY) STRICT';
const SECOND = 'ALTER TABLE seen ADD COLUMN count INTEGER NOT NULL DEFAULT 1';
let dataDir: string;
let databases: OwnDatabases;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'claw-own-'));
  databases = openOwnDatabases({ dataDir, now: () => 1 });
});
afterEach(() => {
  databases.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function again(): void {
  databases.close();
  databases = openOwnDatabases({ dataDir, now: () => 2 });
}

const count = (open: OpenDatabase, migrations: readonly string[]) =>
  open(migrations).prepare('SELECT count(*) FROM seen').pluck().get();
const path = (name: string) => join(dataDir, 'databases', name);

test('a database is one contribution’s own, is kept, and gets the migrations that are new to it', () => {
  const tool = databases.of('tool', 'look');
  tool([FIRST]).exec("INSERT INTO seen VALUES ('a')");
  expect(tool([FIRST])).toBe(tool([FIRST]));
  expect(count(databases.of('service', 'look'), [FIRST])).toBe(0);
  expect(statSync(path('tool-look.db')).mode & 0o777).toBe(0o600);
  expect(statSync(path('.')).mode & 0o777).toBe(0o700);
  again();
  const later = databases.of('tool', 'look')([FIRST, SECOND]);
  expect(later.prepare('SELECT * FROM seen').all()).toEqual([{ id: 'a', count: 1 }]);
  again();
  // An older version of the skill still finds what it knows.
  expect(count(databases.of('tool', 'look'), [FIRST])).toBe(1);
});

test('migrations only add, and one that was applied is not changed', () => {
  const open = databases.of('tool', 'look');
  open([FIRST]);
  again();
  const next = databases.of('tool', 'look');
  expect(() => next([`${FIRST} `, SECOND])).toThrow(/migration 1 of .*tool-look\.db was changed/);
  expect(() => next([FIRST, 'DROP TABLE seen'])).toThrow(/migration 2 of .* contains "DROP"/);
  expect(count(next, [FIRST])).toBe(0);
  expect(() => databases.of('tool', '../x')([FIRST])).toThrow('no name that a file may have');
  expect(existsSync(join(dataDir, 'tool-x.db'))).toBe(false);
});

test('a later call applies the migrations that the first did not have, and refuses others in their place', () => {
  const open = databases.of('tool', 'look');
  const first = open([FIRST]);
  first.exec("INSERT INTO seen VALUES ('a')");
  expect(open([FIRST, SECOND])).toBe(first);
  expect(first.prepare('SELECT * FROM seen').all()).toEqual([{ id: 'a', count: 1 }]);
  expect(() => open([SECOND])).toThrow(/migration 1 of .*tool-look\.db was changed/);
  expect(() => open([FIRST, SECOND, 'DROP TABLE seen'])).toThrow(/contains "DROP"/);
  expect(count(open, [FIRST])).toBe(1);
});

test('each kind that may have one gets its own; where it cannot be used, that one alone is off', () => {
  const log = { info() {}, warn() {}, error() {} };
  const own = {
    assistantName: 'Andy',
    dataDir,
    groupsDir: dataDir,
    timeZone: 'UTC',
    log,
    now: () => 0,
    newId: () => '',
  };
  const tool = (name: string) =>
    defineTool({
      name,
      create({ openDatabase }) {
        openDatabase([FIRST]);
        const input = z.object({});
        return { description: '', isMainOnly: false, input, run: async () => null };
      },
    });
  mkdirSync(path('.'), { recursive: true });
  writeFileSync(path('tool-broken.db'), 'this is not a database, and never was one'.repeat(50));
  const { tools, silent } = openTools([tool('broken'), tool('whole')], {}, own, databases);
  expect(tools.list().map(({ name }) => name)).toEqual(['whole']);
  expect(silent).toMatchObject([
    { name: 'broken', unusable: expect.stringMatching(/tool-broken/) },
  ]);
  const pigeon = defineChannel({
    name: 'pigeon',
    create({ openDatabase }) {
      openDatabase([FIRST]);
      return null;
    },
  });
  const clock = { now: () => 0, random: () => 0, pause: async () => {} };
  openChannels([pigeon], {}, { ...own, ownerConsole: null, clock }, databases);
  expect(existsSync(path('channel-pigeon.db'))).toBe(true);
});

test('a command and a service use theirs while the assistant runs, and it is closed in the end', async () => {
  using project = new TestProject();
  let kept: ReturnType<OpenDatabase> | undefined;
  const definition = defineService({
    name: 'counter',
    start({ openDatabase }) {
      kept = openDatabase([FIRST]);
      kept.exec("INSERT INTO seen VALUES ('a')");
      return { stop() {}, status: () => `${count(openDatabase, [FIRST])} seen` };
    },
  });
  const command = defineCommand({
    scope: 'owner',
    name: 'seen',
    help: 'counts',
    run: async ({ openDatabase }) => ({
      kind: 'answer',
      text: `seen: ${count(openDatabase, [FIRST])}`,
    }),
  });
  const { services } = openServices([definition], {});
  const { commands } = openCommands([command], {}, databases);
  const assistant = await project.start({ over: { services, commands } });
  await assistant.terminal.say('/seen');
  await hears(assistant, 'seen: 0');
  expect(textsOf(assistant.terminal)).toEqual(['seen: 0']);
  expect(existsSync(join(project.dir, 'data/databases/service-counter.db'))).toBe(true);
  expect(kept?.open).toBe(true);
  await assistant.stop();
  expect(kept?.open).toBe(false);
});

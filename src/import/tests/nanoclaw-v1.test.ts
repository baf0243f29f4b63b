import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { parseTranscript } from '../../../container/agent/conversation/transcript.ts';
import { openLinkDatabase } from '../../channels/whatsapp/session/link-database.ts';
import { openStore } from '../../store/store.ts';
import { digests, Installation, NOW } from './bench.ts';
import { BOOKS, FAMILY, makeNanoclaw, OWNER, writeFiles } from './nanoclaw-store.ts';

test('chats, triggers and folders come; whoever had no list may not call it yet', async () => {
  const here = new Installation();
  const { plan } = await here.import(makeNanoclaw());
  expect(
    here.all(
      'SELECT jid, folder, name, needs_trigger, trigger_word, is_main FROM groups ORDER BY folder',
    ),
  ).toEqual([
    { jid: OWNER, folder: 'main', name: 'Ada', needs_trigger: 0, trigger_word: null, is_main: 1 },
    {
      jid: 'telegram:-100123',
      folder: 'telegram-work',
      name: 'Work',
      needs_trigger: 1,
      trigger_word: '@robot',
      is_main: 0,
    },
    {
      jid: FAMILY,
      folder: 'whatsapp-family',
      name: 'Family',
      needs_trigger: 1,
      trigger_word: null,
      is_main: 0,
    },
  ]);
  const store = openStore({ path: join(here.data, 'claw.db'), now: NOW });
  expect(store.senders.mayCall(FAMILY, '49170111@s.whatsapp.net')).toBe(false);
  expect(store.chats.byJid(BOOKS)).toMatchObject({ name: 'Books', isDirect: false });
  store.close();
  expect(plan.lines).toContainEqual({
    kind: 'changes',
    what: 'Family',
    text: 'groups/whatsapp-family (was whatsapp_family); only you may call it until you say who: `/allow whatsapp-family everybody`, or names',
  });
});

test('an allow-list comes as it is, and one that says everybody stays open', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  writeFiles(source.home, {
    '.config/nanoclaw/sender-allowlist.json': JSON.stringify({
      default: { allow: '*', mode: 'trigger' },
      chats: { [FAMILY]: { allow: ['49170111@s.whatsapp.net'], mode: 'drop' } },
    }),
  });
  await here.import(source);
  expect(here.all('SELECT * FROM group_senders')).toEqual([
    { jid: FAMILY, sender: '49170111@s.whatsapp.net' },
  ]);
});

test('history is found, with authors and times, and nothing of it is answered or charged', async () => {
  const here = new Installation();
  await here.import(makeNanoclaw());
  const store = openStore({ path: join(here.data, 'claw.db'), now: NOW });
  const find = (text: string) =>
    store.search.find({ jids: [FAMILY, OWNER], text, from: 0, until: NOW, limit: 5 });
  expect(find('zeppelin')).toMatchObject([
    {
      jid: FAMILY,
      sender: 'Ben',
      saidAt: Date.parse('2024-11-20T10:00:00Z'),
      text: 'We meet at the zeppelin museum',
    },
  ]);
  expect(find('noted')).toMatchObject([{ sender: null, text: 'I have noted the cake.' }]);
  expect(store.turns.claimNext('agent', { owner: 'x', until: NOW })).toBeNull();
  store.close();
  expect(here.all('SELECT * FROM turns')).toEqual([]);
  expect(here.all('SELECT * FROM outbox')).toEqual([]);
  expect(here.all('SELECT * FROM usage')).toEqual([]);
  // The next message is a turn of its own: what was said before lies behind the group's cursor.
  expect(
    here.all('SELECT min(since_seq) - (SELECT max(seq) FROM messages) AS gap FROM groups'),
  ).toEqual([{ gap: 0 }]);
});

test('answers that only the transcripts of its agents have come between the messages, each once', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  await here.import(source);
  const store = openStore({ path: join(here.data, 'claw.db'), now: NOW });
  const work = 'telegram:-100123';
  const find = (text: string) =>
    store.search.find({ jids: [work, FAMILY], text, from: 0, until: NOW, limit: 5 });
  expect(find('lighthouse')).toMatchObject([
    {
      jid: work,
      sender: null,
      saidAt: Date.parse('2026-11-19T08:00:05Z'),
      text: 'The offer goes to the lighthouse.',
    },
  ]);
  // What a turn said on the way was never sent, and an answer that the store has comes from there.
  expect(find('look')).toEqual([]);
  expect(find('noted')).toHaveLength(1);
  store.close();
});

test('a chat goes on with what was said last in it', async () => {
  const here = new Installation();
  await here.import(makeNanoclaw());
  const saidIn = (folder: string) => {
    const [row] = here.all(`SELECT session FROM sessions WHERE folder = '${folder}'`);
    const sessions = join(here.data, 'sessions', folder, '.claude/sessions');
    const text = readFileSync(join(sessions, `${row?.['session']}.jsonl`), 'utf8');
    return parseTranscript(text).said.map(({ message }) => message);
  };
  expect(saidIn('whatsapp-family')).toEqual([
    {
      role: 'user',
      content:
        '(What was said in this chat before it moved here from NanoClaw.)\n[2024-11-20 11:00] Ben: We meet at the zeppelin museum\n[2026-11-27 19:00] Ada: @Andy remember the cake',
    },
    { role: 'assistant', content: 'I have noted the cake.' },
  ]);
  // The last word was a person's: an agent knows it all the same.
  expect(saidIn('main')).toEqual([
    { role: 'user', content: expect.stringContaining('Ada: Buy a chocolate cake for Sunday') },
    { role: 'assistant', content: '(no answer)' },
  ]);
});

test('tasks of each kind come with zone and last run, and wait until the other one is stopped for good', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  const tasks = () =>
    here.all(
      'SELECT folder, prompt, schedule_kind AS kind, schedule, time_zone AS zone, context, state, next_run AS next, last_due AS last FROM tasks ORDER BY id',
    );
  await here.import(source);
  const zone = 'Europe/Berlin';
  const common = { zone, next: null, last: null, context: 'isolated' };
  expect(tasks()).toEqual(
    [
      {
        ...common,
        folder: 'whatsapp-family',
        prompt: 'Say good morning',
        kind: 'cron',
        schedule: '0 8 * * *',
        context: 'group',
        state: 'paused',
        last: Date.parse('2026-11-28T07:00:00Z'),
      },
      {
        ...common,
        folder: 'main',
        prompt: 'Old reminder',
        kind: 'at',
        schedule: '2026-10-02T06:00:00.000Z',
        state: 'done',
        last: Date.parse('2026-10-02T06:00:00Z'),
      },
      {
        ...common,
        folder: 'main',
        prompt: 'Look at the mail',
        kind: 'every',
        schedule: '5 minutes',
        state: 'paused',
      },
      {
        ...common,
        folder: 'main',
        prompt: 'Call Ben',
        kind: 'at',
        schedule: '2026-12-24T17:00:00.000Z',
        state: 'paused',
      },
      {
        ...common,
        folder: 'telegram-work',
        prompt: 'Report',
        kind: 'cron',
        schedule: '0 17 * * 5',
        state: 'paused',
      },
    ].sort((one, other) => order.indexOf(one.prompt) - order.indexOf(other.prompt)),
  );
  expect(here.all('SELECT due_at, outcome, summary FROM task_runs')).toEqual([
    { due_at: Date.parse('2026-11-28T07:00:00Z'), outcome: 'answered', summary: 'Good morning' },
  ]);
  await here.import(source, { isTakeOver: true });
  const next = Object.fromEntries(
    tasks().map((task) => [task['prompt'], [task['state'], task['next']]]),
  );
  expect(next).toEqual({
    'Say good morning': ['active', Date.parse('2026-11-29T07:00:00Z')],
    'Look at the mail': ['active', Date.parse('2026-11-28T12:03:00Z')],
    'Call Ben': ['active', Date.parse('2026-12-24T17:00:00Z')],
    Report: ['paused', null],
    'Old reminder': ['done', null],
  });
});
const order = ['Say good morning', 'Old reminder', 'Look at the mail', 'Call Ben', 'Report'];

test('memory, notes and skills come into the folders of the chats; what is here already stays', async () => {
  const here = new Installation();
  writeFiles(here.project, {
    'groups/main/CLAUDE.md': '# Memory of this chat\n\nMine.\n',
    'groups/global/CLAUDE.md': '# All\n\nWe live in Bern.\n',
  });
  const source = makeNanoclaw();
  const { plan } = await here.import(source);
  const read = (path: string) => readFileSync(join(here.project, 'groups', path), 'utf8');
  expect(read('main/CLAUDE.md')).toBe(
    '# Memory of this chat\n\nMine.\n\n# Memory from NanoClaw\n\n# Ada\n\nAda likes short answers.\n',
  );
  expect(read('main/notes/2026-11-27.md')).toContain('chocolate cake');
  expect(read('whatsapp-family/CLAUDE.md')).toContain('allergic to nuts');
  expect(read('whatsapp-family/conversations/2026-11-20-trip.md')).toBe('# Trip\n');
  expect(read('main/skills/invoices/SKILL.md')).toContain('Check them');
  expect(existsSync(join(here.project, 'groups/main/skills/agent-browser'))).toBe(false);
  expect(existsSync(join(here.project, 'groups/main/logs/container-1.log'))).toBe(false);
  expect(plan.lines.filter(({ kind }) => kind === 'stays').map(({ what }) => what)).toEqual(
    expect.arrayContaining(['groups/old', 'CLAUDE_CODE_OAUTH_TOKEN of its .env']),
  );
});

test('keys come after consent; logins and the link to WhatsApp only at the take-over', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  writeFileSync(join(here.project, '.env'), 'ASSISTANT_NAME=Andy');
  const env = () => readFileSync(join(here.project, '.env'), 'utf8');
  await here.import(source, { withKeys: false });
  expect(env()).toBe('ASSISTANT_NAME=Andy\n\n# From NanoClaw\nTZ=Europe/Berlin\n');
  expect(existsSync(join(here.data, 'whatsapp/link.db'))).toBe(false);
  await here.import(source);
  expect(env()).toContain('ANTHROPIC_API_KEY=sk-1\n');
  expect(env()).not.toContain('TELEGRAM');
  const { plan } = await here.import(source, { isTakeOver: true });
  expect(env()).toContain('TELEGRAM_BOT_TOKEN=12:ab\n');
  expect(plan.warnings).toHaveLength(1);
  const link = openLinkDatabase(here.data, () => NOW);
  expect(link.database.prepare('SELECT type, id FROM keys ORDER BY type').all()).toEqual([
    { type: 'app-state-sync-key', id: 'AB/cd+=' },
    { type: 'pre-key', id: '1' },
    { type: 'sender-key', id: '4917-160@g.us::49170111::0' },
    { type: 'session', id: '49170111.0' },
  ]);
  link.close();
});

test('a second import of the same source changes nothing, and the source is never written', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  const before = digests(source.home);
  const options = { isTakeOver: true };
  const first = await here.import(source, options);
  expect(first.imported).toMatchObject({ messages: 6, groups: 3, tasks: 5 });
  const state = here.state();
  const second = await here.import(source, options);
  expect(second.imported).toMatchObject({ id: null, messages: 0 });
  expect(here.state()).toEqual(state);
  expect(digests(source.home)).toEqual(before);
});

test('an undo leaves every file and row as before', async () => {
  const here = new Installation();
  writeFiles(here.project, { '.env': 'A=b\n', 'groups/main/CLAUDE.md': 'Mine.\n' });
  const before = here.state();
  const source = makeNanoclaw();
  await here.import(source);
  const between = here.state();
  await here.import(source, { isTakeOver: true });
  expect(here.undo().kept).toEqual([]);
  expect(normal(here.state())).toEqual(normal(between));
  expect(here.undo().kept).toEqual([]);
  expect(normal(here.state())).toEqual(normal(before));
  expect(here.undo().plan).toBeNull();
});

/** Times of files that were put back differ. */
function normal(state: unknown): unknown {
  const { rows, files } = state as { rows: unknown; files: readonly (readonly unknown[])[] };
  return { rows, files: files.map(([path, digest]) => [path, digest]) };
}

test('an undo keeps what was said and edited since', async () => {
  const here = new Installation();
  await here.import(makeNanoclaw());
  const memory = join(here.project, 'groups/main/CLAUDE.md');
  writeFileSync(memory, 'edited');
  const store = openStore({ path: join(here.data, 'claw.db'), now: NOW });
  store.messages.add(
    {
      jid: FAMILY,
      id: 'new',
      sender: 'ben',
      senderName: 'Ben',
      isOwner: false,
      text: 'after',
      sentAt: NOW,
    },
    NOW,
  );
  store.close();
  const { plan, kept } = here.undo();
  expect(plan?.usedChats).toEqual(['Family']);
  expect(kept).toEqual(['groups/main/CLAUDE.md']);
  expect(readFileSync(memory, 'utf8')).toBe('edited');
  expect(here.all('SELECT text FROM messages')).toEqual([{ text: 'after' }]);
  expect(here.all('SELECT jid FROM chats')).toEqual([{ jid: FAMILY }]);
});

test('a plan changes nothing, not a byte, also while the assistant holds its databases', async () => {
  const here = new Installation();
  // Held as by a running assistant: the database is written to, the link is locked.
  const database = new Database(join(here.data, 'claw.db'));
  database.exec('BEGIN IMMEDIATE');
  mkdirSync(join(here.data, 'whatsapp'));
  const link = new Database(join(here.data, 'whatsapp/link.db'));
  link.pragma('locking_mode = EXCLUSIVE');
  link.pragma('journal_mode = WAL');
  link.exec('CREATE TABLE credentials (json TEXT, is_removed INTEGER)');
  const before = digests(here.project);
  const { imported, plan } = await here.import(makeNanoclaw(), { isPlanOnly: true });
  expect(imported).toBeNull();
  expect(plan.lines.length).toBeGreaterThan(5);
  expect(digests(here.project)).toEqual(before);
  link.close();
  database.close();
});

test('a newer NanoClaw, a damaged store and a folder of something else are refused by name', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  writeFiles(source.root, { 'package.json': '{"version":"3.0.0"}' });
  await expect(here.import(source)).rejects.toThrow('NanoClaw 3.0.0, whose store is not known');
  await expect(here.import({ ...source, root: source.home })).rejects.toThrow('has no store of');
  const foreign = makeNanoclaw();
  const database = new Database(join(foreign.root, 'store/messages.db'));
  database.exec('ALTER TABLE messages RENAME COLUMN content TO body');
  database.close();
  await expect(here.import(foreign)).rejects.toThrow('no such column: content');
  const damaged = makeNanoclaw();
  rmSync(join(damaged.root, 'store/messages.db-wal'));
  writeFileSync(join(damaged.root, 'store/messages.db'), 'no database at all'.repeat(500));
  await expect(here.import(damaged)).rejects.toThrow('is damaged or no SQLite database');
});

test('a source that runs is refused, with the unit and how to stop it', async () => {
  const here = new Installation();
  const source = makeNanoclaw();
  const before = here.state();
  const lookAtSystem = () => ({
    processes: [
      { pid: 42, command: 'node dist/index.js', folder: source.root, openFiles: [] },
      { pid: 43, command: 'bash', folder: source.root, openFiles: [] },
    ],
    units: ['nanoclaw.service', 'nanobot.service'],
    containers: ['nanoclaw-main-1', 'other'],
  });
  await expect(here.import(source, { lookAtSystem })).rejects.toThrow(
    [
      'NanoClaw is still running. Stop it first, then import again:',
      '  the unit nanoclaw.service: systemctl --user disable --now nanoclaw.service',
      '  the container nanoclaw-main-1: docker stop nanoclaw-main-1',
      '  process 42 (node dist/index.js): kill 42',
    ].join('\n'),
  );
  expect(here.state()).toEqual(before);
});

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { NOW } from './bench.ts';
import { writeFiles } from './nanoclaw-store.ts';

type Made = { readonly root: string; readonly home: string };

function database(path: string): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const made = new Database(path);
  made.pragma('journal_mode = WAL');
  return made;
}

/** Makes a NanoClaw 2 with three chats of two agents. */
export function makeNanoclaw2(): Made {
  const home = mkdtempSync(join(tmpdir(), 'claw-import-home-'));
  const root = join(home, 'nanoclaw');
  const central = database(join(root, 'data/v2.db'));
  central.exec(`
    CREATE TABLE agent_groups (id TEXT PRIMARY KEY, name TEXT, folder TEXT UNIQUE, agent_provider TEXT, created_at TEXT);
    CREATE TABLE messaging_groups (id TEXT PRIMARY KEY, channel_type TEXT, platform_id TEXT, name TEXT,
      is_group INTEGER, unknown_sender_policy TEXT, created_at TEXT);
    CREATE TABLE messaging_group_agents (id TEXT PRIMARY KEY, messaging_group_id TEXT, agent_group_id TEXT,
      engage_mode TEXT, engage_pattern TEXT, sender_scope TEXT, ignored_message_policy TEXT, session_mode TEXT,
      priority INTEGER DEFAULT 0, created_at TEXT);
    CREATE TABLE users (id TEXT PRIMARY KEY, kind TEXT, display_name TEXT, created_at TEXT);
    CREATE TABLE user_roles (user_id TEXT, role TEXT, agent_group_id TEXT);
    CREATE TABLE agent_group_members (user_id TEXT, agent_group_id TEXT);
    CREATE TABLE user_dms (user_id TEXT, channel_type TEXT, messaging_group_id TEXT);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, agent_group_id TEXT, messaging_group_id TEXT, created_at TEXT);
    INSERT INTO agent_groups VALUES ('ag', 'Andy', 'andy', NULL, '1'), ('ag2', 'Helper', 'helper', NULL, '2');
    INSERT INTO messaging_groups VALUES
      ('mg1', 'telegram', 'telegram:42', 'Ada', 0, 'strict', '1'),
      ('mg2', 'whatsapp', '120363@g.us', 'Family', 1, 'public', '2'),
      ('mg3', 'discord', 'discord:1:123456789012345678', 'Work', 1, 'strict', '3');
    INSERT INTO messaging_group_agents VALUES
      ('w1', 'mg1', 'ag', 'pattern', '.', 'all', 'drop', 'shared', 0, '1'),
      ('w2', 'mg2', 'ag2', 'pattern', '^@Robot\\b', 'known', 'drop', 'shared', 0, '2'),
      ('w3', 'mg3', 'ag2', 'mention', NULL, 'all', 'drop', 'shared', 0, '3');
    INSERT INTO users VALUES ('tg:42', 'tg', 'Ada', '1');
    INSERT INTO user_roles VALUES ('tg:42', 'owner', NULL);
    INSERT INTO agent_group_members VALUES ('phone:+49170111', 'ag2');
    INSERT INTO user_dms VALUES ('tg:42', 'telegram', 'mg1');
    INSERT INTO sessions VALUES ('s1', 'ag', 'mg1', '1'), ('s2', 'ag2', 'mg2', '2')`);
  for (const session of ['ag/s1', 'ag2/s2']) {
    const inbound = database(join(root, 'data/v2-sessions', session, 'inbound.db'));
    inbound.exec(`CREATE TABLE messages_in (id TEXT PRIMARY KEY, seq INTEGER UNIQUE, kind TEXT, timestamp TEXT,
      status TEXT, process_after TEXT, recurrence TEXT, series_id TEXT, platform_id TEXT, channel_type TEXT, content TEXT)`);
    const outbound = database(join(root, 'data/v2-sessions', session, 'outbound.db'));
    outbound.exec(`CREATE TABLE messages_out (id TEXT PRIMARY KEY, seq INTEGER UNIQUE, kind TEXT, timestamp TEXT,
      platform_id TEXT, channel_type TEXT, content TEXT)`);
    if (session !== 'ag2/s2') continue;
    const said = inbound.prepare(
      `INSERT INTO messages_in VALUES (?, ?, ?, ?, ?, ?, ?, ?, '120363@g.us', 'whatsapp', ?)`,
    );
    said.run(
      'm1',
      2,
      'chat',
      '2024-11-20T10:00:00.000Z',
      'completed',
      null,
      null,
      null,
      JSON.stringify({
        sender: 'Ben',
        senderId: '49170111@s.whatsapp.net',
        text: 'at the zeppelin museum',
      }),
    );
    said.run(
      't1',
      4,
      'task',
      '2026-11-01 08:00:00',
      'completed',
      '2026-11-28T07:00:00.000Z',
      '0 8 * * *',
      'series',
      JSON.stringify({ prompt: 'Say good morning' }),
    );
    said.run(
      't2',
      6,
      'task',
      '2026-11-28 07:00:00',
      'pending',
      '2026-11-29T07:00:00.000Z',
      '0 8 * * *',
      'series',
      JSON.stringify({ prompt: 'Say good morning', script: 'echo' }),
    );
    said.run(
      't3',
      8,
      'task',
      '2026-11-28 07:00:00',
      'paused',
      '2026-12-24T17:00:00.000Z',
      null,
      't3',
      JSON.stringify({ prompt: 'Call Ben' }),
    );
    outbound
      .prepare(
        `INSERT INTO messages_out VALUES ('o1', 3, 'chat', '2024-11-20 10:00:05', '120363@g.us', 'whatsapp', ?)`,
      )
      .run(JSON.stringify({ text: 'See you there.' }));
  }
  writeFiles(root, {
    'package.json': '{"version":"2.0.64"}',
    '.env': 'TZ=Europe/Berlin\n',
    'groups/andy/CLAUDE.local.md': 'Ada likes short answers.\n',
    'groups/andy/CLAUDE.md': 'made by NanoClaw',
    'groups/helper/CLAUDE.local.md': 'Ben is allergic to nuts.\n',
  });
  return { root, home };
}

/** Makes a nanobot, or with another name a clawft, which writes its keys with underscores. */
export function makeNanobot(name = '.nanobot'): Made {
  const home = mkdtempSync(join(tmpdir(), 'claw-import-home-'));
  const root = join(home, name);
  const isSnake = name !== '.nanobot';
  const provider = isSnake ? { api_key: 'sk-1' } : { apiKey: 'sk-1' };
  const job = isSnake
    ? { schedule: { kind: 'every', every_ms: 7_200_000 }, state: { next_run_at_ms: NOW + 60_000 } }
    : { schedule: { kind: 'every', everyMs: 7_200_000 }, state: { nextRunAtMs: NOW + 60_000 } };
  const lines = [
    { _type: 'metadata', key: 'telegram:-100', created_at: '2024-11-20T10:00:00' },
    { role: 'user', content: 'at the zeppelin museum', timestamp: '2024-11-20T10:00:00Z' },
    { role: 'assistant', content: 'See you there.', timestamp: '2024-11-20T10:00:05Z' },
    { role: 'tool', content: 'noise', timestamp: '2024-11-20T10:00:06Z' },
  ];
  writeFiles(root, {
    'config.json': JSON.stringify({
      agents: { defaults: { model: 'anthropic/claude-sonnet-5-5' } },
      providers: { anthropic: provider, groq: provider },
      channels: { telegram: { enabled: true, token: '12:ab', allowFrom: ['42|ada'] } },
    }),
    'workspace/SOUL.md': 'You are calm.\n',
    'workspace/memory/MEMORY.md': 'Ben is allergic to nuts.\n',
    'workspace/memory/HISTORY.md': '[2026-11-27] cake\n',
    'workspace/sessions/telegram_-100.jsonl': lines
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
    'cron/jobs.json': JSON.stringify({
      version: 1,
      jobs: [
        {
          id: 'a1',
          name: 'Mail',
          enabled: true,
          payload: {
            kind: 'agent_turn',
            message: 'Look at the mail',
            channel: 'telegram',
            to: '-100',
          },
          ...job,
        },
      ],
    }),
  });
  return { root, home };
}

/** Makes a Hermes with a chat, its command line, memories and two jobs. */
export function makeHermes(): Made {
  const home = mkdtempSync(join(tmpdir(), 'claw-import-home-'));
  const root = join(home, '.hermes');
  const state = database(join(root, 'state.db'));
  state.exec(`
    CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, user_id TEXT, started_at REAL);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, timestamp REAL);
    INSERT INTO messages (session_id, role, content, timestamp) VALUES
      ('s1', 'user', 'at the zeppelin museum', 1732096800.5), ('s1', 'assistant', 'See you there.', 1732096805.5),
      ('cli', 'user', 'order the cake', 1732096900.0), ('s1', 'tool', 'noise', 1732096801.0)`);
  writeFiles(root, {
    'config.yaml': 'model:\n  default: anthropic/claude-sonnet-5-5\ntimezone: Europe/Berlin\n',
    '.env': 'TELEGRAM_BOT_TOKEN=12:ab\nGROQ_API_KEY=x\n',
    'SOUL.md': 'You are calm.\n',
    'memories/USER.md': 'Ada lives in Bern.\n§\nShe cycles.\n',
    'memories/MEMORY.md': 'Ben is allergic to nuts.\n',
    'skills/office/invoices/SKILL.md': '---\nname: invoices\n---\nCheck.\n',
    'sessions/sessions.json': JSON.stringify({
      'agent:main:telegram:group:-100': {
        session_id: 's1',
        origin: { platform: 'telegram', chat_id: '-100', chat_name: 'Family', chat_type: 'group' },
      },
    }),
    'cron/jobs.json': JSON.stringify({
      jobs: [
        {
          id: 'h1',
          name: 'Mail',
          prompt: 'Look at the mail',
          schedule: { kind: 'interval', minutes: 120 },
          enabled: true,
          next_run_at: '2026-11-28T13:00:00+00:00',
          last_run_at: '2026-11-28T11:00:00+00:00',
        },
        {
          id: 'h2',
          name: 'Morning',
          prompt: 'Say good morning',
          schedule: { kind: 'cron', expr: '0 8 * * *' },
          enabled: false,
        },
      ],
    }),
  });
  return { root, home };
}

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';

/** The tables of NanoClaw 1's `store/messages.db`, as its documentation and releases up to 1.2 have them. */
const SCHEMA = `
  CREATE TABLE chats (jid TEXT PRIMARY KEY, name TEXT, last_message_time TEXT, channel TEXT,
    is_group INTEGER DEFAULT 0);
  CREATE TABLE messages (id TEXT, chat_jid TEXT, sender TEXT, sender_name TEXT, content TEXT,
    timestamp TEXT, is_from_me INTEGER, is_bot_message INTEGER DEFAULT 0,
    PRIMARY KEY (id, chat_jid), FOREIGN KEY (chat_jid) REFERENCES chats(jid));
  CREATE TABLE scheduled_tasks (id TEXT PRIMARY KEY, group_folder TEXT NOT NULL, chat_jid TEXT NOT NULL,
    prompt TEXT NOT NULL, schedule_type TEXT NOT NULL, schedule_value TEXT NOT NULL, next_run TEXT,
    last_run TEXT, last_result TEXT, status TEXT DEFAULT 'active', created_at TEXT NOT NULL,
    context_mode TEXT DEFAULT 'isolated');
  CREATE TABLE task_run_logs (id INTEGER PRIMARY KEY AUTOINCREMENT, task_id TEXT NOT NULL,
    run_at TEXT NOT NULL, duration_ms INTEGER NOT NULL, status TEXT NOT NULL, result TEXT, error TEXT);
  CREATE TABLE router_state (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE sessions (group_folder TEXT PRIMARY KEY, session_id TEXT NOT NULL);
  CREATE TABLE registered_groups (jid TEXT PRIMARY KEY, name TEXT NOT NULL, folder TEXT NOT NULL UNIQUE,
    trigger_pattern TEXT NOT NULL, added_at TEXT NOT NULL, container_config TEXT,
    requires_trigger INTEGER DEFAULT 1, is_main INTEGER DEFAULT 0);
`;

export const OWNER = '491701234567@s.whatsapp.net';
export const FAMILY = '120363041234567890@g.us';
export const BOOKS = '120363049999999999@g.us';

/** Writes files below a folder. */
export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Makes a NanoClaw 1 with three chats, tasks of each kind, memory, a skill and a link to WhatsApp. */
export function makeNanoclaw(name = 'nanoclaw'): { readonly root: string; readonly home: string } {
  const home = mkdtempSync(join(tmpdir(), 'claw-import-home-'));
  const root = join(home, name);
  mkdirSync(join(root, 'store'), { recursive: true });
  const database = new Database(join(root, 'store/messages.db'));
  // Like a NanoClaw that was killed: what was written last is only in the log beside the database.
  database.pragma('journal_mode = WAL');
  database.exec(SCHEMA);
  const chat = database.prepare('INSERT INTO chats VALUES (?, ?, ?, ?, ?)');
  chat.run(OWNER, 'Ada', '2026-11-27T18:05:00.000Z', 'whatsapp', 0);
  chat.run(FAMILY, 'Family', '2026-11-27T18:05:00.000Z', 'whatsapp', 1);
  chat.run(BOOKS, 'Books', '2026-11-20T08:00:00.000Z', 'whatsapp', 1);
  chat.run('tg:-100123', 'Work', '2026-11-20T08:00:00.000Z', 'telegram', 1);
  chat.run('__group_sync__', '__group_sync__', '2026-11-20T08:00:00.000Z', null, 0);
  const group = database.prepare(
    'INSERT INTO registered_groups VALUES (?, ?, ?, ?, ?, NULL, ?, ?)',
  );
  group.run(OWNER, 'Ada', 'main', '@Andy', '2026-01-01T08:00:00.000Z', 0, 1);
  group.run(FAMILY, 'Family', 'whatsapp_family', '@Andy', '2026-01-02T08:00:00.000Z', 1, 0);
  group.run('tg:-100123', 'Work', 'telegram_work', '@robot', '2026-01-03T08:00:00.000Z', 1, 0);
  const message = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  message.run(
    'M1',
    FAMILY,
    '49170111@s.whatsapp.net',
    'Ben',
    'We meet at the zeppelin museum',
    '2024-11-20T10:00:00.000Z',
    0,
    0,
  );
  message.run(
    'M2',
    FAMILY,
    OWNER,
    'Ada',
    '@Andy remember the cake',
    '2026-11-27T18:00:00.000Z',
    1,
    0,
  );
  message.run(
    'M3',
    FAMILY,
    OWNER,
    'Andy',
    'Andy: I have noted the cake.',
    '2026-11-27T18:00:05.000Z',
    1,
    1,
  );
  message.run(
    'M4',
    OWNER,
    OWNER,
    'Ada',
    'Buy a chocolate cake for Sunday',
    '2026-11-27T18:05:00.000Z',
    1,
    0,
  );
  message.run(
    'M5',
    'tg:-100123',
    '42',
    'Cleo',
    'The offer is due on Friday',
    '2026-11-19T08:00:00.000Z',
    0,
    0,
  );
  const task = database.prepare(
    'INSERT INTO scheduled_tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const made = '2026-10-01T08:00:00.000Z';
  task.run(
    't-cron',
    'whatsapp_family',
    FAMILY,
    'Say good morning',
    'cron',
    '0 8 * * *',
    '2026-11-29T07:00:00.000Z',
    '2026-11-28T07:00:00.000Z',
    'Good morning',
    'active',
    made,
    'group',
  );
  task.run(
    't-every',
    'main',
    OWNER,
    'Look at the mail',
    'interval',
    '300000',
    '2026-11-28T12:03:00.000Z',
    null,
    null,
    'active',
    made,
    'isolated',
  );
  task.run(
    't-once',
    'main',
    OWNER,
    'Call Ben',
    'once',
    '2026-12-24T18:00:00',
    '2026-12-24T17:00:00.000Z',
    null,
    null,
    'active',
    made,
    'isolated',
  );
  task.run(
    't-paused',
    'telegram_work',
    'tg:-100123',
    'Report',
    'cron',
    '0 17 * * 5',
    null,
    null,
    null,
    'paused',
    made,
    'isolated',
  );
  task.run(
    't-done',
    'main',
    OWNER,
    'Old reminder',
    'once',
    '2026-10-02T08:00:00',
    null,
    '2026-10-02T06:00:00.000Z',
    'Done',
    'completed',
    made,
    'isolated',
  );
  database
    .prepare(
      'INSERT INTO task_run_logs (task_id, run_at, duration_ms, status, result) VALUES (?, ?, ?, ?, ?)',
    )
    .run('t-cron', '2026-11-28T07:00:00.000Z', 4_000, 'success', 'Good morning');
  writeFiles(root, {
    'package.json': '{"name":"nanoclaw","version":"1.2.12"}',
    '.env':
      'ASSISTANT_NAME=Andy\nTZ=Europe/Berlin\nANTHROPIC_API_KEY=sk-1\nTELEGRAM_BOT_TOKEN=12:ab\nCLAUDE_CODE_OAUTH_TOKEN=oat\n',
    'groups/main/CLAUDE.md': '# Ada\n\nAda likes short answers.\n',
    'groups/main/notes/2026-11-27.md': 'Yesterday we chose the chocolate cake.\n',
    'groups/main/logs/container-1.log': 'noise',
    'groups/whatsapp_family/CLAUDE.md': '# Family\n\nBen is allergic to nuts.\n',
    'groups/whatsapp_family/conversations/2026-11-20-trip.md': '# Trip\n',
    'groups/global/CLAUDE.md': '# All\n\nWe live in Bern.\n',
    'groups/old/CLAUDE.md': '# Old\n',
    'data/sessions/main/.claude/skills/invoices/SKILL.md':
      '---\nname: invoices\n---\nCheck them.\n',
    'data/sessions/main/.claude/skills/agent-browser/SKILL.md': '---\nname: agent-browser\n---\n',
    'data/sessions/telegram_work/.claude/projects/-workspace-group/s-work.jsonl': transcript([
      ['user', 'u1', '2026-11-19T08:00:01.000Z', '<messages>The offer is due on Friday</messages>'],
      ['assistant', 'a1', '2026-11-19T08:00:02.000Z', [{ type: 'text', text: 'Let me look.' }]],
      [
        'assistant',
        'a2',
        '2026-11-19T08:00:03.000Z',
        [{ type: 'tool_use', id: 't', name: 'Bash' }],
      ],
      ['user', 'u2', '2026-11-19T08:00:04.000Z', [{ type: 'tool_result', tool_use_id: 't' }]],
      [
        'assistant',
        'a3',
        '2026-11-19T08:00:05.000Z',
        [{ type: 'text', text: '<internal>noted</internal>The offer goes to the lighthouse.' }],
      ],
    ]),
    'data/sessions/whatsapp_family/.claude/projects/-workspace-group/s-family.jsonl': transcript([
      ['user', 'u3', '2026-11-27T18:00:01.000Z', 'remember the cake'],
      [
        'assistant',
        'a4',
        '2026-11-27T18:00:04.000Z',
        [{ type: 'text', text: 'I have noted the cake.' }],
      ],
    ]),
    'store/auth/creds.json': JSON.stringify({
      me: { id: '491701234567:12@s.whatsapp.net' },
      account: { details: 'x' },
      noiseKey: { private: { type: 'Buffer', data: 'AQID' } },
    }),
    'store/auth/pre-key-1.json': '{"keyPair":{}}',
    'store/auth/session-49170111.0.json': '{"_sessions":{}}',
    'store/auth/sender-key-4917-160@g.us--49170111--0.json': '[]',
    'store/auth/app-state-sync-key-AB__cd+=.json': '{"keyData":"x"}',
  });
  // The connection stays open in this process: nothing is checkpointed, as after a kill.
  return { root, home };
}

/** Writes a session as Claude Code does, a line for each message. */
function transcript(lines: readonly (readonly [string, string, string, unknown])[]): string {
  return lines
    .map(([type, uuid, timestamp, content]) =>
      JSON.stringify({
        type,
        uuid,
        timestamp,
        isSidechain: false,
        message: { role: type, content },
      }),
    )
    .map((line) => `${line}\n`)
    .join('');
}

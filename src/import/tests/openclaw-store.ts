import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { writeFiles } from './nanoclaw-store.ts';

const CONFIG = `{
  // The settings of OpenClaw may have comments,
  agents: { defaults: { model: { primary: "anthropic/claude-sonnet-5-5" }, userTimezone: "Europe/Berlin" } },
  channels: {
    telegram: { botToken: "\${TELEGRAM_BOT_TOKEN}", allowFrom: [42] },
    whatsapp: { allowFrom: ["*"], groups: { "120363@g.us": { requireMention: false } } },
    discord: { token: "https://not-a-comment", groupAllowFrom: ["7"], },
  },
}
`;

const line = (id: string, role: string, content: unknown, timestamp: string) => ({
  type: 'message',
  id,
  parentId: null,
  timestamp,
  message: { role, content },
});

const SESSIONS = {
  'agent:main:main': {
    sessionId: 's-main',
    lastChannel: 'whatsapp',
    lastTo: '+491701234567',
    lines: [
      { type: 'session', id: 's-main', timestamp: '2026-11-27T18:00:00.000Z' },
      line(
        '1',
        'user',
        '[WhatsApp +491701234567 2026-11-27 18:00] Order the chocolate cake',
        '2026-11-27T18:00:00.000Z',
      ),
      line('2', 'toolResult', [{ type: 'text', text: 'noise' }], '2026-11-27T18:00:01.000Z'),
      line(
        '3',
        'assistant',
        [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'Ordered.' },
        ],
        '2026-11-27T18:00:02.000Z',
      ),
    ],
  },
  'agent:main:whatsapp:group:120363@g.us': {
    sessionId: 's-family',
    subject: 'Family',
    lines: [
      line(
        '1',
        'user',
        '[WhatsApp Family 2024-11-20 10:00] Ben: at the zeppelin museum',
        '2024-11-20T10:00:00.000Z',
      ),
    ],
  },
  'agent:main:discord:channel:123456789012345678': {
    sessionId: 's-work',
    displayName: 'Work',
    lines: [line('1', 'user', 'Cleo: the offer', '2026-11-19T08:00:00.000Z')],
  },
  'agent:main:cron:j1': {
    sessionId: 's-cron',
    lines: [line('1', 'user', 'x', '2026-11-19T08:00:00.000Z')],
  },
};

const JOBS = [
  {
    id: 'j1',
    name: 'Morning',
    enabled: true,
    createdAtMs: 1,
    schedule: { kind: 'cron', expr: '0 8 * * *', tz: 'Europe/London' },
    sessionTarget: 'isolated',
    payload: { kind: 'agentTurn', message: 'Say good morning' },
    delivery: { channel: 'whatsapp', to: '120363@g.us' },
    state: {
      nextRunAtMs: Date.parse('2026-11-29T08:00:00Z'),
      lastRunAtMs: Date.parse('2026-11-28T08:00:00Z'),
    },
  },
  {
    id: 'j2',
    name: null,
    enabled: true,
    createdAtMs: 1,
    schedule: { kind: 'every', everyMs: 7_200_000 },
    sessionTarget: 'main',
    payload: { kind: 'systemEvent', text: 'Look at the mail' },
    state: {},
  },
  {
    id: 'j3',
    name: 'Once',
    enabled: false,
    createdAtMs: 1,
    schedule: { kind: 'at', at: '2026-12-24T17:00:00Z' },
    sessionTarget: 'main',
    payload: { kind: 'agentTurn', message: 'Call Ben' },
  },
] as const;

/** Makes a state folder of OpenClaw: with files, or as it is since sessions and cron jobs are in SQLite. */
export function makeOpenclaw(layout: 'files' | 'sqlite'): {
  readonly root: string;
  readonly home: string;
} {
  const home = mkdtempSync(join(tmpdir(), 'claw-import-home-'));
  const root = join(home, '.openclaw');
  writeFiles(root, {
    'openclaw.json': CONFIG,
    '.env': 'TELEGRAM_BOT_TOKEN=12:ab\n',
    'workspace/SOUL.md': 'You are calm.\n',
    'workspace/USER.md': 'Ada lives in Bern.\n',
    'workspace/MEMORY.md': 'Ben is allergic to nuts.\n',
    'workspace/memory/2026-11-27.md': 'We chose the chocolate cake.\n',
    'workspace/AGENTS.md': 'How OpenClaw works.\n',
    'workspace/skills/invoices/SKILL.md': '---\nname: invoices\n---\nCheck.\n',
    'agents/main/agent/auth-profiles.json': JSON.stringify({
      profiles: {
        'anthropic:default': { type: 'api_key', provider: 'anthropic', key: 'sk-1' },
        'openai:me': { type: 'oauth', provider: 'openai', access: 'x' },
      },
    }),
    'hooks/x.js': '',
    'credentials/whatsapp/default/creds.json': JSON.stringify({
      me: { id: '491701234567:1@s.whatsapp.net' },
      account: {},
    }),
  });
  if (layout === 'files') {
    const index = Object.fromEntries(
      Object.entries(SESSIONS).map(([key, { lines: _, ...entry }]) => [key, entry]),
    );
    writeFiles(root, {
      'agents/main/sessions/sessions.json': JSON.stringify(index),
      'cron/jobs.json': JSON.stringify({ version: 1, jobs: JOBS }),
    });
    for (const { sessionId, lines } of Object.values(SESSIONS)) {
      const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('');
      writeFiles(root, { [`agents/main/sessions/${sessionId}.jsonl`]: text });
    }
    return { root, home };
  }
  // Nothing of the jobs is in a file any more: only who reads the store finds them.
  writeFiles(root, { 'cron/jobs.json': '{"version":1,"jobs":[]}' });
  fillAgent(database(join(root, 'agents/main/agent/openclaw-agent.sqlite')));
  fillState(database(join(root, 'state/openclaw.sqlite')));
  return { root, home };
}

function database(path: string): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const made = new Database(path);
  made.pragma('journal_mode = WAL');
  return made;
}

function fillAgent(agent: Database.Database): void {
  agent.exec(`
    CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT);
    CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, chat_type TEXT, channel TEXT);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, PRIMARY KEY (session_id, seq));
    PRAGMA user_version = 17`);
  for (const [key, { lines, ...entry }] of Object.entries(SESSIONS)) {
    const { sessionId } = entry;
    agent
      .prepare('INSERT INTO session_nodes VALUES (?, ?, ?)')
      .run(key, sessionId, JSON.stringify(entry));
    agent.prepare('INSERT INTO session_windows VALUES (?, ?, NULL, NULL)').run(sessionId, key);
    for (const [seq, event] of lines.entries()) {
      agent
        .prepare('INSERT INTO transcript_events VALUES (?, ?, ?)')
        .run(sessionId, seq, JSON.stringify(event));
    }
  }
}

function fillState(state: Database.Database): void {
  state.exec(`
    CREATE TABLE cron_jobs (job_id TEXT PRIMARY KEY, name TEXT, enabled INTEGER, created_at_ms INTEGER,
      schedule_kind TEXT, schedule_expr TEXT, schedule_tz TEXT, every_ms INTEGER, anchor_ms INTEGER, at TEXT,
      session_target TEXT, payload_kind TEXT, payload_message TEXT, delivery_channel TEXT, delivery_to TEXT,
      next_run_at_ms INTEGER, last_run_at_ms INTEGER);
    PRAGMA user_version = 9`);
  const insert = state.prepare(`INSERT INTO cron_jobs VALUES (
    :id, :name, :enabled, 1, :kind, :expr, :tz, :everyMs, NULL, :at, :sessionTarget, NULL, :prompt, :channel, :to, :next, :last)`);
  for (const job of JOBS) {
    const none = { expr: null, tz: null, everyMs: null, at: null };
    const payload: { message?: string; text?: string } = job.payload;
    const delivery = 'delivery' in job ? job.delivery : { channel: null, to: null };
    const runs: { nextRunAtMs?: number; lastRunAtMs?: number } = 'state' in job ? job.state : {};
    const { id, name, sessionTarget } = job;
    insert.run({
      ...{ id, name, sessionTarget, ...none, ...job.schedule, ...delivery },
      enabled: Number(job.enabled),
      prompt: payload.message ?? payload.text ?? null,
      next: runs.nextRunAtMs ?? null,
      last: runs.lastRunAtMs ?? null,
    });
  }
}

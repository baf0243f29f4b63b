import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openStore } from '../../store/store.ts';
import { digests, Installation, NOW } from './bench.ts';
import { writeFiles } from './nanoclaw-store.ts';
import { makeOpenclaw } from './openclaw-store.ts';

const OWNER = '491701234567@s.whatsapp.net';

test.for(['files', 'sqlite'] as const)('everything of OpenClaw comes, with %s', async (layout) => {
  const here = new Installation();
  const source = makeOpenclaw(layout);
  const before = digests(source.home);
  const { plan } = await here.import(source, { isTakeOver: true });
  expect(
    here.all(
      'SELECT jid, folder, needs_trigger AS called, is_main AS main FROM groups ORDER BY jid',
    ),
  ).toEqual([
    { jid: '120363@g.us', folder: 'whatsapp-family', called: 0, main: 0 },
    { jid: OWNER, folder: 'main', called: 0, main: 1 },
    { jid: 'discord:123456789012345678', folder: 'discord-work', called: 1, main: 0 },
  ]);
  // `*` is not a list: the owner says again who may call.
  expect(here.all('SELECT * FROM group_senders ORDER BY jid')).toEqual([
    { jid: '120363@g.us', sender: 'nobody-yet' },
    { jid: 'discord:123456789012345678', sender: '7' },
  ]);
  const store = openStore({ path: join(here.data, 'claw.db'), now: NOW });
  const find = (text: string) =>
    store.search.find({ jids: ['120363@g.us', OWNER], text, from: 0, until: NOW, limit: 5 });
  expect(find('zeppelin')).toMatchObject([
    {
      jid: '120363@g.us',
      sender: 'Ben',
      saidAt: Date.parse('2024-11-20T10:00:00Z'),
      text: 'at the zeppelin museum',
    },
  ]);
  expect(find('chocolate')).toMatchObject([{ text: 'Order the chocolate cake' }]);
  expect(find('ordered')).toMatchObject([{ sender: null }]);
  store.close();
  expect(
    here.all(
      'SELECT folder, name, prompt, schedule, time_zone AS zone, context, state, next_run AS next, last_due AS last FROM tasks ORDER BY prompt',
    ),
  ).toEqual([
    {
      folder: 'main',
      name: 'Once',
      prompt: 'Call Ben',
      schedule: '2026-12-24T17:00:00.000Z',
      zone: 'Europe/Berlin',
      context: 'group',
      state: 'paused',
      next: null,
      last: null,
    },
    {
      folder: 'main',
      name: null,
      prompt: 'Look at the mail',
      schedule: '2 hours',
      zone: 'Europe/Berlin',
      context: 'group',
      state: 'active',
      next: expect.any(Number),
      last: null,
    },
    {
      folder: 'whatsapp-family',
      name: 'Morning',
      prompt: 'Say good morning',
      schedule: '0 8 * * *',
      zone: 'Europe/London',
      context: 'isolated',
      state: 'active',
      next: Date.parse('2026-11-29T08:00:00Z'),
      last: Date.parse('2026-11-28T08:00:00Z'),
    },
  ]);
  const read = (path: string) => readFileSync(join(here.project, path), 'utf8');
  expect(read('groups/global/CLAUDE.md')).toBe('You are calm.\n');
  expect(read('groups/main/CLAUDE.md')).toBe(
    'Ada lives in Bern.\n\n# Memory from OpenClaw\n\nBen is allergic to nuts.\n',
  );
  expect(read('groups/main/memory/2026-11-27.md')).toContain('chocolate');
  expect(read('groups/global/skills/invoices/SKILL.md')).toContain('Check.');
  expect(read('.env')).toBe(
    '# From OpenClaw\nTELEGRAM_BOT_TOKEN=12:ab\nTELEGRAM_ALLOW_FROM=42\nDISCORD_BOT_TOKEN=https://not-a-comment\nMODEL=anthropic/claude-sonnet-5-5\nANTHROPIC_API_KEY=sk-1\n',
  );
  expect(plan.lines.filter(({ kind }) => kind === 'stays').map(({ what }) => what)).toEqual([
    'the login oauth of openai',
    ...(layout === 'files' ? ['1 transcript in agents/main/sessions'] : []),
    'hooks',
  ]);
  const state = here.state();
  expect((await here.import(source, { isTakeOver: true })).imported?.id).toBeNull();
  expect(here.state()).toEqual(state);
  expect(digests(source.home)).toEqual(before);
});

test('a newer schema of OpenClaw is refused by its number', async () => {
  const here = new Installation();
  const source = makeOpenclaw('sqlite');
  const database = new Database(join(source.root, 'state/openclaw.sqlite'));
  database.pragma('user_version = 10');
  database.close();
  const before = here.state();
  await expect(here.import(source)).rejects.toThrow(
    "has OpenClaw's state schema 10; up to 9 is known here",
  );
  expect(here.state()).toEqual(before);
});

test('a further agent comes into the chats in which it answered; one without a chat has a line', async () => {
  const here = new Installation();
  const source = makeOpenclaw('files');
  const session = {
    type: 'message',
    id: '1',
    timestamp: '2026-11-20T08:00:00.000Z',
    message: { role: 'user', content: 'the keel is blue' },
  };
  writeFiles(source.root, {
    'agents/boat/sessions/sessions.json': JSON.stringify({
      'agent:boat:discord:channel:777': { sessionId: 's-boat', displayName: 'Boat' },
      'agent:boat:cron:j9': { sessionId: 's-job' },
    }),
    'agents/boat/sessions/s-boat.jsonl': `${JSON.stringify(session)}\n`,
    'agents/boat/sessions/s-job.jsonl': `${JSON.stringify(session)}\n`,
    'workspace-boat/SOUL.md': 'You are a sailor.\n',
    'workspace-boat/MEMORY.md': 'The boat lies in Kiel.\n',
    'workspace-boat/notes/mast.md': 'Oil it.\n',
    'workspace-idle/SOUL.md': 'You wait.\n',
  });
  const { plan } = await here.import(source);
  const read = (path: string) => readFileSync(join(here.project, 'groups', path), 'utf8');
  expect(read('boat-discord-boat/CLAUDE.md')).toContain('You are a sailor.');
  expect(read('boat-discord-boat/CLAUDE.md')).toContain('The boat lies in Kiel.');
  expect(read('boat-discord-boat/notes/mast.md')).toBe('Oil it.\n');
  expect(read('global/CLAUDE.md')).not.toContain('sailor');
  const stays = plan.lines.filter(({ kind }) => kind === 'stays').map(({ what }) => what);
  expect(stays).toEqual(
    expect.arrayContaining(['the agent idle', '1 transcript in agents/boat/sessions']),
  );
});

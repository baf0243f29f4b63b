import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../store/store.ts';
import { digests, Installation, NOW } from './bench.ts';
import { makeHermes, makeNanobot, makeNanoclaw2 } from './other-stores.ts';

const MAKERS = {
  nanoclaw: makeNanoclaw2,
  hermes: makeHermes,
  nanobot: makeNanobot,
  clawft: () => makeNanobot('.clawft'),
};

test.for(Object.keys(MAKERS) as (keyof typeof MAKERS)[])(
  'history of %s is found, a second import changes nothing, and an undo takes all back',
  async (product) => {
    const here = new Installation();
    const source = MAKERS[product]();
    const empty = here.state();
    const before = digests(source.home);
    const { plan } = await here.import(source, { isTakeOver: true });
    expect(plan.product).toBe(product);
    const jids = here.all('SELECT jid FROM chats').map(({ jid }) => String(jid));
    const store = openStore({ path: join(here.data, 'claw.db'), now: NOW });
    const find = (text: string) => store.search.find({ jids, text, from: 0, until: NOW, limit: 5 });
    expect(find('zeppelin')).toMatchObject([{ text: 'at the zeppelin museum' }]);
    expect(new Date(find('zeppelin')[0]?.saidAt ?? 0).toISOString()).toMatch(
      /^2024-11-20T10:00:00/,
    );
    expect(find('see you')).toMatchObject([{ sender: null }]);
    expect(find('noise')).toEqual([]);
    store.close();
    const state = here.state();
    expect((await here.import(source, { isTakeOver: true })).imported?.id).toBeNull();
    expect(here.state()).toEqual(state);
    expect(digests(source.home)).toEqual(before);
    here.undo();
    expect(here.state()).toEqual(empty);
  },
);

const TASKS =
  'SELECT folder, prompt, schedule, context, state, next_run AS next, last_due AS last FROM tasks ORDER BY prompt';

test('NanoClaw 2: wirings become groups, people who are known may call, and a series is one task', async () => {
  const here = new Installation();
  const { plan } = await here.import(makeNanoclaw2(), { isTakeOver: true });
  expect(
    here.all(
      'SELECT jid, folder, needs_trigger AS called, trigger_word AS word FROM groups ORDER BY jid',
    ),
  ).toEqual([
    { jid: '120363@g.us', folder: 'helper', called: 1, word: '@Robot' },
    { jid: 'discord:123456789012345678', folder: 'helper-2', called: 1, word: null },
    { jid: 'telegram:42', folder: 'main', called: 0, word: null },
  ]);
  expect(here.all('SELECT * FROM group_senders ORDER BY jid, sender')).toEqual([
    { jid: '120363@g.us', sender: '49170111@s.whatsapp.net' },
    { jid: 'discord:123456789012345678', sender: 'nobody-yet' },
  ]);
  expect(here.all(TASKS)).toEqual([
    {
      folder: 'helper',
      prompt: 'Call Ben',
      schedule: '2026-12-24T17:00:00.000Z',
      context: 'group',
      state: 'paused',
      next: null,
      last: null,
    },
    {
      folder: 'helper',
      prompt: 'Say good morning',
      schedule: '0 8 * * *',
      context: 'group',
      state: 'active',
      next: Date.parse('2026-11-29T07:00:00Z'),
      last: Date.parse('2026-11-28T07:00:00Z'),
    },
  ]);
  const read = (path: string) => readFileSync(join(here.project, 'groups', path), 'utf8');
  expect(read('main/CLAUDE.md')).toBe('Ada likes short answers.\n');
  expect(read('helper-2/CLAUDE.md')).toBe('Ben is allergic to nuts.\n');
  expect(plan.lines).toContainEqual({
    kind: 'stays',
    what: 'one memory for several chats of groups/helper',
    text: 'Work gets a copy, in a folder of its own',
  });
});

test.for(['.nanobot', '.clawft'])('%s: memory, tasks, model and keys come', async (name) => {
  const here = new Installation();
  const { plan } = await here.import(makeNanobot(name), { isTakeOver: true });
  expect(here.all(TASKS)).toEqual([
    {
      folder: 'telegram-100',
      prompt: 'Look at the mail',
      schedule: '2 hours',
      context: 'isolated',
      state: 'active',
      next: NOW + 60_000,
      last: null,
    },
  ]);
  const read = (path: string) => readFileSync(join(here.project, path), 'utf8');
  expect(read('groups/global/CLAUDE.md')).toBe('You are calm.\n');
  expect(read('groups/main/CLAUDE.md')).toBe('Ben is allergic to nuts.\n');
  expect(read('groups/main/memory/HISTORY.md')).toContain('cake');
  for (const line of [
    'ANTHROPIC_API_KEY=sk-1',
    'TELEGRAM_ALLOW_FROM=42',
    'MODEL=anthropic/claude-sonnet-5-5',
  ]) {
    expect(read('.env')).toContain(`${line}\n`);
  }
  expect(here.all('SELECT * FROM group_senders')).toMatchObject([{ jid: 'telegram:-100' }]);
  expect(plan.lines.map(({ what }) => what)).toContain('the key of groq');
});

test('Hermes: memories, nested skills and jobs of each kind come', async () => {
  const here = new Installation();
  const { plan } = await here.import(makeHermes(), { isTakeOver: true });
  expect(here.all(TASKS)).toEqual([
    {
      folder: 'main',
      prompt: 'Look at the mail',
      schedule: '2 hours',
      context: 'isolated',
      state: 'active',
      next: Date.parse('2026-11-28T13:00:00Z'),
      last: Date.parse('2026-11-28T11:00:00Z'),
    },
    {
      folder: 'main',
      prompt: 'Say good morning',
      schedule: '0 8 * * *',
      context: 'isolated',
      state: 'paused',
      next: null,
      last: null,
    },
  ]);
  const read = (path: string) => readFileSync(join(here.project, path), 'utf8');
  expect(read('groups/main/CLAUDE.md')).toBe(
    'Ada lives in Bern.\n\nShe cycles.\n\n# Memory from Hermes\n\nBen is allergic to nuts.\n',
  );
  expect(read('groups/global/skills/office/invoices/SKILL.md')).toContain('Check.');
  expect(plan.lines.map(({ what }) => what)).toContain('GROQ_API_KEY of its .env');
});

import { expect, test } from 'vitest';
import { Board } from '../board.ts';
import { ModelServer } from '../model.ts';

const day = (back: number): string =>
  new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);

test('the prompt has its parts in order: identity, files, memory, skills, their summary', async () => {
  await using model = await ModelServer.start('Yes.');
  await using board = await Board.start({
    config: { provider: model.provider },
    files: {
      '/workspace/SOUL.md': 'Calm.',
      '/workspace/USER.md': 'Lives in Bergen.',
      '/workspace/memory/MEMORY.md': 'The pump is on pin 4.',
      [`/workspace/memory/${day(0)}.md`]: 'Watered today.',
      [`/workspace/memory/${day(2)}.md`]: 'Watered before.',
      [`/workspace/memory/${day(3)}.md`]: 'Too long ago.',
      '/workspace/skills/pump/SKILL.md':
        '---\nname: pump\ndescription: "Water: how to give it"\n---\nSteps of the pump.',
    },
  });
  await board.ask('Ready?');
  const prompt = model.requests[0]?.messages[0]?.content ?? '';
  const order = [
    'You are ChipClaw',
    'Free RAM: ',
    'Flash: ',
    'Chat: uart:uart_default',
    '# AGENTS.md',
    '# IDENTITY.md',
    '# SOUL.md\nCalm.',
    '# USER.md\nLives in Bergen.',
    'The pump is on pin 4.',
    `### ${day(0)}\nWatered today.`,
    `### ${day(2)}\nWatered before.`,
    '# Skill: hardware',
    '- pump: Water: how to give it (read_file /workspace/skills/pump/SKILL.md)',
  ];
  const places = order.map((part) => prompt.indexOf(part));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(prompt).toMatch(/Free RAM: \d+ KB\nFlash: \d+ KB free of \d+ KB/);
  expect(prompt).not.toContain('Too long ago.');
  expect(prompt).not.toContain('Steps of the pump.');
});

const FRONT_MATTERS = [
  ['no front matter', 'Just text', {}, 'Just text'],
  ['one without an end', '---\nname: a', {}, '---\nname: a'],
  [
    'comments, quotes, colons',
    '---\n# x: 1\nname: "a: b"\nload: always\n---\n\nBody',
    { name: 'a: b', load: 'always' },
    'Body',
  ],
  ['lines of Windows', '---\r\nname: a\r\n---\r\nBody', { name: 'a' }, 'Body'],
  ['nothing', '', {}, ''],
] as const;

test('a front matter is read by hand', async () => {
  await using board = await Board.flash();
  const imports = 'from chipclaw.agent.skills import parse_front_matter';
  for (const [name, text, meta, body] of FRONT_MATTERS) {
    const read = await board.value(`parse_front_matter(${JSON.stringify(text)})`, imports);
    expect(read, name).toEqual([meta, body]);
  }
});

test('notes: long-term memory is written anew, the day grows by lines', async () => {
  await using board = await Board.flash();
  await board.run(`
from chipclaw.agent.memory import MemoryStore
store = MemoryStore("/workspace")
store.write_long_term("old")
store.write_long_term("new")
store.append_today("one")
store.append_today("two")`);
  expect(await board.value('[store.read_long_term(), store.read_today()]')).toEqual([
    'new',
    'one\ntwo\n',
  ]);
});

test('a conversation has twenty messages of a thousand letters, and half a line is skipped', async () => {
  await using model = await ModelServer.start('Yes.');
  const lines = Array.from({ length: 25 }, (_, at) =>
    JSON.stringify({ role: 'user', content: `m${at}` }),
  );
  await using board = await Board.start({
    config: { provider: model.provider },
    files: { '/data/sessions/uart_uart_default.jsonl': `${lines.join('\n')}\n{"role": "us` },
  });
  await board.ask('x'.repeat(1500));
  const history = model.requests[0]?.messages.slice(1, -1) ?? [];
  expect(history.map(({ content }) => content)).toEqual(
    Array.from({ length: 20 }, (_, at) => `m${at + 5}`),
  );
  expect(model.requests[0]?.messages.at(-1)?.content).toHaveLength(1500);
  const kept = (await board.file('/data/sessions/uart_uart_default.jsonl')).trim().split('\n');
  expect(kept).toHaveLength(28);
  expect(JSON.parse(kept.at(-2) ?? '')['content']).toBe(`${'x'.repeat(1000)}...(truncated)`);
  expect(JSON.parse(kept.at(-1) ?? '')['content']).toBe('Yes.');
});

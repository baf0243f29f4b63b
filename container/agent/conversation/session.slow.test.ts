import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelMessage } from 'ai';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Session } from './session.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'claw-session-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const asked: ModelMessage = { role: 'user', content: 'hello' };
const said: ModelMessage = { role: 'assistant', content: 'hi' };
const call: ModelMessage = {
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: '1', toolName: 'shell', input: {} }],
};

const ENDED: ModelMessage = { role: 'assistant', content: '(ended without a word)' };

function calls(...ids: readonly string[]): ModelMessage {
  const content = ids.map((toolCallId) => ({
    type: 'tool-call' as const,
    toolCallId,
    toolName: 'shell',
    input: {},
  }));
  return { role: 'assistant', content };
}

function resultOf(toolCallId: string): ModelMessage {
  const output = { type: 'text' as const, value: 'ok' };
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName: 'shell', output }],
  };
}

test('a conversation is resumed by its id, with its length as the model counted it', async () => {
  const first = await Session.open(dir, null);
  await first.append([asked, said], 120);
  const again = await Session.open(dir, first.id);
  expect(again.id).toBe(first.id);
  expect(again.messages).toEqual([asked, said]);
  expect(again.conversation).toMatchObject({ summary: null, tokens: 120 });
  await again.append([asked, said], null);
  expect((await Session.open(dir, first.id)).conversation.tokens).toBeNull();
});

test('a conversation whose file is gone begins anew under another id', async () => {
  const session = await Session.open(dir, 'gone');
  expect(session.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(session.messages).toEqual([]);
});

test('a summary stands for what was said before it, which stays in the file', async () => {
  const first = await Session.open(dir, null);
  const before = { role: 'user', content: 'long ago' } as const;
  await first.append([before, said], 10);
  await first.append([asked, said], 20);
  const second = await Session.open(dir, first.id);
  await second.summarise('They said hello.', 2);
  const third = await Session.open(dir, first.id);
  expect(third.conversation).toMatchObject({ summary: 'They said hello.', tokens: null });
  expect(third.messages).toEqual([asked, said]);
  // Of all that was said nothing is left: the next turn's question is the first message.
  await third.summarise('All of it.', 2);
  await third.append([asked, said], 30);
  const fourth = await Session.open(dir, first.id);
  expect(fourth.conversation).toMatchObject({ summary: 'All of it.', tokens: 30 });
  expect(fourth.messages).toEqual([asked, said]);
  expect(await readFile(join(dir, `${first.id}.jsonl`), 'utf8')).toContain('long ago');
});

test('a turn that a crash cut short in the file is passed over as a whole', async () => {
  const session = await Session.open(dir, null);
  await session.append([asked, said], 10);
  const path = join(dir, `${session.id}.jsonl`);
  await appendFile(path, `${JSON.stringify(asked)}\n${JSON.stringify(call)}\n{"role":"tool","con`);
  const again = await Session.open(dir, session.id);
  expect(again.messages).toEqual([asked, said]);
  // Later messages begin on lines of their own.
  await again.append([asked, said], 20);
  expect((await Session.open(dir, session.id)).messages).toEqual([asked, said, asked, said]);
});

test.each(['{"role":"user","cont', '{"kind":"siz', '\0\0\0'])(
  'the cut line %j takes nothing with it that was whole',
  async (line) => {
    const session = await Session.open(dir, null);
    await session.append([asked, said], null);
    await appendFile(join(dir, `${session.id}.jsonl`), line);
    expect((await Session.open(dir, session.id)).messages).toEqual([asked, said]);
  },
);

test('wherever a crash cuts the file, the next turn is one that a model takes', async () => {
  const result: ModelMessage = {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: '1',
        toolName: 'shell',
        output: { type: 'text', value: 'ok' },
      },
    ],
  };
  const whole = await Session.open(dir, null);
  await whole.append([asked, said], 10);
  await whole.append([asked, call, result, said], 20);
  const path = join(dir, `${whole.id}.jsonl`);
  const bytes = await readFile(path);
  const answered = bytes.indexOf('{"kind":"size","tokens":10}');
  for (let cut = answered; cut <= bytes.length; cut += 1) {
    await writeFile(path, bytes.subarray(0, cut));
    await (await Session.open(dir, whole.id)).append([asked, said], 30);
    const { messages } = await Session.open(dir, whole.id);
    expect(messages.slice(0, 2)).toEqual([asked, said]);
    expect(messages.slice(-2)).toEqual([asked, said]);
    for (const [at, message] of messages.entries()) {
      const isCall = JSON.stringify(message) === JSON.stringify(call);
      expect(messages[at + 1]?.role === 'tool', `cut at ${cut}`).toBe(isCall);
    }
  }
});

test.each<{ name: string; lines: readonly ModelMessage[]; healed: readonly ModelMessage[] }>([
  {
    name: 'one of two results is missing',
    lines: [asked, calls('1', '2'), resultOf('1'), asked, said],
    healed: [asked, said],
  },
  { name: 'the question has no answer', lines: [asked, said, asked], healed: [asked, said] },
  {
    name: 'a message that was said meanwhile follows a result',
    lines: [asked, calls('1'), resultOf('1'), asked, said],
    healed: [asked, calls('1'), resultOf('1'), asked, said],
  },
  {
    name: 'the file ends with a result',
    lines: [asked, calls('1'), resultOf('1')],
    healed: [asked, calls('1'), resultOf('1'), ENDED],
  },
  {
    name: 'a result has no call',
    lines: [asked, said, resultOf('7'), asked, said],
    healed: [asked, said, asked, said],
  },
])('a conversation heals where $name', async ({ lines, healed }) => {
  const session = await Session.open(dir, null);
  await session.append(lines, null);
  expect((await Session.open(dir, session.id)).messages).toEqual(healed);
});

import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
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

test('a conversation is resumed by its id', async () => {
  const first = await Session.open(dir, null);
  await first.append([asked, said]);
  const again = await Session.open(dir, first.id);
  expect(again.id).toBe(first.id);
  expect(again.messages).toEqual([asked, said]);
});

test('one that is gone begins anew under another id', async () => {
  const session = await Session.open(dir, 'gone');
  expect(session.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(session.messages).toEqual([]);
});

test('a line that a crash cut short is passed over', async () => {
  const session = await Session.open(dir, null);
  await session.append([asked, said]);
  await appendFile(join(dir, `${session.id}.jsonl`), '{"role":"user","cont');
  expect((await Session.open(dir, session.id)).messages).toEqual([asked, said]);
});

test('the newest two hundred messages are read, from one of the user on', async () => {
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'shell', input: {} } as const;
  const output = { type: 'text', value: 'x' } as const;
  const result = { type: 'tool-result', toolCallId: '1', toolName: 'shell', output } as const;
  const round: ModelMessage[] = [
    asked,
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [result] },
    said,
  ];
  const all = [...Array.from({ length: 60 }, () => round).flat(), said, said];
  await writeFile(join(dir, 'long.jsonl'), all.map((line) => JSON.stringify(line)).join('\n'));
  const { messages } = await Session.open(dir, 'long');
  // 242 lines: the last 200 begin with the third of a round, a tool's result.
  expect(messages).toHaveLength(198);
  expect(messages[0]).toEqual(asked);
});

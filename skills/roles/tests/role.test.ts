import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listRoles } from '../../../src/commands/role/role-files.ts';
import type { TurnRequest } from '../../../src/sandbox/sandbox.ts';
import {
  answers,
  type TestAssistant,
  type TestChannel,
  TestProject,
  textsOf,
} from '../../../src/testing/assistant.ts';

const LIMIT = { timeout: 60_000 };
/** Holds the turns whose prompt says so until they are let go. */
const held = new Map<string, () => void>();
const requests: TurnRequest[] = [];
let project: TestProject;
let assistant: TestAssistant;

async function agent(request: TurnRequest) {
  requests.push(request);
  const name = /hold-\w+/.exec(request.prompt)?.[0];
  if (name !== undefined) await new Promise<void>((resolve) => held.set(name, resolve));
  return answers(`role ${roleIn(request)}`);
}
const roleIn = (request: TurnRequest | undefined) => request?.sections?.['roles']?.['role'] ?? null;

beforeEach(async () => {
  requests.length = 0;
  held.clear();
  project = new TestProject({
    'groups/global/roles/coder.md': '---\nname: coder\ndescription: Writes code\n---\n\nUse types.',
    'groups/global/roles/head-gardener.md': '# Head gardener\n\nKnows plants.',
    'groups/global/roles/notes.txt': 'no role',
    'groups/global/roles/Bad Name.md': 'no role',
  });
  assistant = await project.start({ agent });
});
afterEach(async () => {
  await assistant.stop();
  project[Symbol.dispose]();
});

async function said(text: string, channel: TestChannel = assistant.terminal): Promise<string> {
  const before = channel.sent.length;
  await channel.say(text);
  await vi.waitFor(() => expect(channel.sent.length).toBeGreaterThan(before), LIMIT);
  return textsOf(channel).at(-1) ?? '';
}

test('/role lists the roles with what they are for, and the one that is chosen', async () => {
  const list = `Role in all chats: none.

- coder: Writes code
- head-gardener: Head gardener

\`/role <name>\` changes it in all chats, \`/role none\` ends it, \`/role why\` tells what it knew about your last message. A role is a file: \`groups/global/roles/<name>.md\`.`;
  expect(await said('/role')).toBe(list);
  expect(await said('/role list')).toBe(list);
  expect(await said('/role select coder')).toBe('coder in all chats, from the next message on.');
  expect(statSync(join(project.dir, 'data/role.json')).mode & 0o077).toBe(0);
  expect(await said('/role list')).toContain(
    'Role in all chats: coder.\n\n- coder (now): Writes code',
  );
  expect(await said('/role Head Gardener')).toContain('head-gardener in all chats');
  expect(await said('/role none')).toBe('No role in any chat, from the next message on.');
});

test('a role that is not there is named with the nearest, and nothing changes', async () => {
  await said('/role coder');
  expect(await said('/role codr')).toBe(
    'There is no role codr. Is it `/role coder`? There are: coder, head-gardener.',
  );
  expect(await said('/role ../../etc/passwd')).toContain('There is no role ../../etc/passwd.');
  expect(await said('hello')).toBe('role coder');
  rmSync(join(project.dir, 'groups/global/roles/coder.md'));
  expect(await said('/role')).toContain('`groups/global/roles/coder.md` is not there any more.');
  rmSync(join(project.dir, 'groups/global/roles'), { recursive: true });
  expect(await said('/role tea')).toContain('There is no role tea, and none at all yet.');
});

test('one role holds in all chats, and over a restart', async () => {
  const { chat } = assistant;
  await chat.meet('chat:family', 'Family');
  await said('/register Family always');
  await said('/role coder');
  expect(await said('hello')).toBe('role coder');
  await chat.say('hello', { jid: 'chat:family', isDirect: false });
  await vi.waitFor(() => expect(textsOf(chat)).toContain('role coder'), LIMIT);
  // The owner changes it from any chat, and it is another in all of them.
  const before = chat.sent.length;
  await chat.say('/role head-gardener', { jid: 'chat:family', isDirect: false, isOwner: true });
  await vi.waitFor(() => expect(chat.sent.length).toBeGreaterThan(before), LIMIT);
  expect(textsOf(chat).at(-1)).toBe('head-gardener in all chats, from the next message on.');
  expect(await said('hello')).toBe('role head-gardener');
  await assistant.stop();
  assistant = await project.start({ agent });
  expect(await said('hello again')).toBe('role head-gardener');
});

test('while an agent works, a choice is queued until none does; the turn under way ends as it began', async () => {
  const { chat } = assistant;
  await chat.meet('chat:family', 'Family');
  await said('/register Family always');
  await said('/role coder');
  await chat.say('hold-one', { jid: 'chat:family', isDirect: false });
  await vi.waitFor(() => expect(held.has('hold-one')).toBe(true), LIMIT);
  expect(await said('/role head-gardener')).toBe(
    'Queued: head-gardener once nothing is being worked on; one turn runs now, and ends as begun.',
  );
  // Another chat's turn does not begin the new role while the first still works in the old one.
  expect(await said('hello')).toBe('role coder');
  expect(await said('/role')).toContain('Role in all chats: coder. Queued: head-gardener once');
  held.get('hold-one')?.();
  await vi.waitFor(() => expect(textsOf(chat)).toContain('role coder'), LIMIT);
  await vi.waitFor(async () => expect(await said('hello')).toBe('role head-gardener'), LIMIT);
  const kept = JSON.parse(readFileSync(join(project.dir, 'data/role.json'), 'utf8'));
  expect(kept).toEqual({ current: 'head-gardener', next: null });
});

test('a queued role survives a restart, and a spoilt file is no role', async () => {
  const path = join(project.dir, 'data/role.json');
  await assistant.stop();
  writeFileSync(path, JSON.stringify({ current: 'coder', next: { role: 'head-gardener' } }));
  assistant = await project.start({ agent });
  expect(await said('/role')).toContain('Then head-gardener, from the next message on.');
  expect(await said('hello')).toBe('role head-gardener');
  writeFileSync(path, '{');
  expect(await said('hello')).toBe('role null');
  expect(await said('/role coder')).toContain('coder in all chats');
});

test('links that lead out of the folder of all groups are no roles', async () => {
  const secret = join(project.dir, 'secret.md');
  writeFileSync(secret, 'a secret');
  symlinkSync(secret, join(project.dir, 'groups/global/roles/leak.md'));
  expect(await said('/role list')).not.toContain('leak');
  rmSync(join(project.dir, 'groups/global/roles'), { recursive: true });
  const outside = join(project.dir, 'outside/coder.md');
  mkdirSync(dirname(outside));
  writeFileSync(outside, 'a secret');
  symlinkSync(dirname(outside), join(project.dir, 'groups/global/roles'));
  expect(await said('/role list')).toContain('There are none yet.');
});

test('members of a group cannot change the role', async () => {
  const { chat } = assistant;
  await chat.meet('chat:family', 'Family');
  await said('/register Family always');
  await chat.say('/role coder', {
    jid: 'chat:family',
    isDirect: false,
    sender: 'eve',
    senderName: 'Eve',
  });
  await vi.waitFor(() => expect(chat.sent.length).toBeGreaterThan(0), LIMIT);
  expect(await said('/role')).toContain('Role in all chats: none.');
});

test('a description is that of the front matter, also in files that are made to take long', async () => {
  const folder = join(project.dir, 'groups/global/roles');
  writeFileSync(join(folder, 'cook.md'), '# Cook\n\n---\ndescription: not this\n---\n');
  for (let at = 0; at < 100; at += 1) {
    const text = `${'---\n'.repeat(400)}${'description: a\n'.repeat(160)}`;
    writeFileSync(join(folder, `slow-${at}.md`), text);
  }
  expect((await listRoles(project.dir)).find(({ name }) => name === 'cook')).toEqual({
    name: 'cook',
    description: 'Cook',
  });
});

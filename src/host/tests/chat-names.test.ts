import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { answers, type TestAssistant, TestProject } from '../../testing/assistant.ts';

const FIRST = 'chat:11';
const SECOND = 'chat:22';

/** Says something in the terminal and returns the answer. */
async function ask({ terminal }: TestAssistant, text: string): Promise<string> {
  const before = terminal.sent.length;
  await terminal.say(text);
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
  return terminal.sent[before]?.text ?? '';
}

/** Two chats called Ada, with the folders `chat-11` and `ada`. */
async function startWithTwoAdas(
  project: TestProject,
  parts: Parameters<TestProject['start']>[0] = {},
): Promise<TestAssistant> {
  const assistant = await project.start(parts);
  await assistant.chat.meet(FIRST, 'Ada');
  await ask(assistant, '/register Ada as chat-11');
  await assistant.chat.meet(SECOND, 'Ada');
  await ask(assistant, `/register ${SECOND} as ada`);
  expect(assistant.store.groups.all()).toHaveLength(3);
  return assistant;
}

test('delete means the chat of the folder that is named, also after it was taken out', async () => {
  using project = new TestProject();
  const assistant = await startWithTwoAdas(project);
  expect(await ask(assistant, '/unregister ada')).toContain('groups/ada stays');
  expect(await ask(assistant, '/unregister ada delete')).toContain('all files in groups/ada.');
  expect(await ask(assistant, 'yes')).toBe('Everything of Ada is deleted.');
  expect(existsSync(join(project.dir, 'groups/ada'))).toBe(false);
  expect(existsSync(join(project.dir, 'groups/chat-11'))).toBe(true);
  expect(assistant.store.groups.byJid(FIRST)?.folder).toBe('chat-11');
  await assistant.stop();
});

test('a name that fits two chats, registered or not, is asked about with numbers', async () => {
  using project = new TestProject();
  const assistant = await startWithTwoAdas(project);
  await ask(assistant, '/unregister ada');
  const question =
    'Several chats fit Ada. Which one?\n\n1. Ada (groups/chat-11)\n2. Ada (groups/ada, not registered)\n3. none of them\n\nSay a number.';
  expect(await ask(assistant, '/unregister Ada delete')).toBe(question);
  expect(await ask(assistant, '4')).toBe('There is no choice 4. Say a number from 1 to 3.');
  expect(await ask(assistant, '2')).toContain('all files in groups/ada.');
  expect(await ask(assistant, 'no')).toBe('Nothing of Ada was deleted.');
  expect(await ask(assistant, '/unregister Ada')).toBe(question);
  expect(await ask(assistant, 'no')).toBe('`/unregister Ada` was not run.');
  expect(await ask(assistant, '/register Ada')).toBe(question);
  expect(await ask(assistant, '2')).toContain('registered, with the folder groups/ada');
  await assistant.stop();
});

test('every command that takes a chat’s name asks, and goes on with the rest of what was typed', async () => {
  using project = new TestProject();
  const assistant = await startWithTwoAdas(project);
  expect(await ask(assistant, '/trigger "Ada" hey you')).toContain('Which one?');
  expect(await ask(assistant, '2')).toBe('Andy answers to hey you in Ada.');
  expect(assistant.store.groups.byJid(SECOND)?.triggerWord).toBe('hey you');
  expect(assistant.store.groups.byJid(FIRST)?.triggerWord).toBeNull();
  for (const typed of ['/allow Ada everybody', '/reset Ada', '/register Ada']) {
    expect(await ask(assistant, typed)).toContain('1. Ada (groups/chat-11)\n2. Ada (groups/ada)');
    expect(await ask(assistant, 'no')).toBe(`\`${typed}\` was not run.`);
  }
  // These run beside an open question, so they ask none.
  for (const typed of ['/budget Ada 3 usd', '/stop Ada']) {
    expect(await ask(assistant, typed)).toBe(
      'Several chats fit Ada: Ada (groups/chat-11), Ada (groups/ada). Say the folder instead of the name.',
    );
  }
  expect(await ask(assistant, '/budget ada 3 usd')).toContain('Ada: ');
  expect(assistant.store.budgets.of('ada')?.microUsd).toBe(3_000_000);
  expect(assistant.store.budgets.of('chat-11')).toBeNull();
  await assistant.stop();
});

test('a number that is also a folder is asked about; a stranger’s chat that is called so is not', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  await assistant.chat.meet(FIRST, 'Club');
  await assistant.chat.meet(SECOND, 'Team');
  await ask(assistant, `/register ${FIRST} as 3`);
  await ask(assistant, `/register ${SECOND} as team`);
  await assistant.chat.meet('chat:33', '2');
  await ask(assistant, '/groups');
  expect(await ask(assistant, '/trigger 3')).toContain('1. Team (groups/team)\n2. Club (groups/3)');
  await ask(assistant, 'no');
  expect(await ask(assistant, '/trigger 2')).toContain('in Club.');
  await assistant.stop();
});

test('`delete` behind a name is the word, whatever other chats call themselves', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  await assistant.chat.meet(FIRST, 'Ada');
  await ask(assistant, '/register Ada');
  await assistant.chat.meet(SECOND, 'Ada delete');
  await ask(assistant, '/register "Ada delete"');
  expect(await ask(assistant, '/unregister ada delete')).toContain('all files in groups/ada.');
  await ask(assistant, 'no');
  expect(await ask(assistant, '/unregister "Ada delete"')).toContain('not listened to any more');
  await assistant.stop();
});

test('an agent is told which chats it may have meant, and the exact folder wins', async () => {
  using project = new TestProject();
  const results: unknown[] = [];
  const calls = [
    ['send_message', { group: 'Ada', text: 'hi' }],
    ['send_message', { group: 'ada', text: 'hi' }],
    ['list_tasks', { group: 'Ada' }],
    ['set_trigger', { group: 'ADA', trigger: 'always' }],
    ['register_group', { chat: 'Ada' }],
    ['unregister_group', { group: 'Ada' }],
  ] as const;
  const assistant = await startWithTwoAdas(project, {
    agent: async ({ folder }, { onTool }) => {
      for (const [name, input] of calls)
        results.push((await onTool({ folder, name, input })).value);
      return answers('done');
    },
  });
  await ask(assistant, 'tell Ada');
  await vi.waitFor(() => expect(results).toHaveLength(calls.length));
  const unclear = expect.stringContaining('Ada (groups/chat-11), Ada (groups/ada)');
  expect(results).toEqual([unclear, 'Queued for Ada.', unclear, unclear, unclear, unclear]);
  await vi.waitFor(() => expect(assistant.chat.sent).toMatchObject([{ jid: SECOND, text: 'hi' }]));
  await assistant.stop();
});

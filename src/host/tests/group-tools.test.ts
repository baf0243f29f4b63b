import { expect, test, vi } from 'vitest';
import { answers, type TestAssistant, TestProject, textsOf } from '../../testing/assistant.ts';

const CLUB = 'chat:club';

/** Starts an assistant that has seen two chats and takes part in neither, with an agent of the test's. */
async function startBesideChats(
  project: TestProject,
  parts: Parameters<TestProject['start']>[0],
): Promise<TestAssistant> {
  const assistant = await project.start(parts);
  await assistant.chat.meet('chat:family', 'Family Chat');
  await assistant.chat.meet(CLUB, 'Club');
  return assistant;
}

/** Says something in the terminal, and waits for the answer. */
async function terminalSays({ terminal }: TestAssistant, text: string): Promise<void> {
  const before = terminal.sent.length;
  await terminal.say(text);
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
}

test('the agent of the main chat does the same in words, with the same checks', async () => {
  using project = new TestProject({ 'groups/left/a.md': 'a\n' });
  const results: unknown[] = [];
  const calls = [
    ['register_group', { chat: 'Family Chat', folder: 'main' }],
    ['register_group', { chat: 'Family Chat', folder: 'left' }],
    ['register_group', { chat: 'Nobody' }],
    ['register_group', { chat: '+1 234 567' }],
    ['register_group', { chat: 'Family Chat', trigger: 'always' }],
    ['set_trigger', { group: 'Family Chat', trigger: '@home' }],
    ['list_groups', {}],
    ['unregister_group', { group: 'Terminal' }],
    ['unregister_group', { group: 'family-chat' }],
  ] as const;
  const assistant = await startBesideChats(project, {
    agent: async ({ folder }, { onTool }) => {
      for (const [name, input] of calls)
        results.push((await onTool({ folder, name, input })).value);
      return answers('done');
    },
  });
  await terminalSays(assistant, 'add the family');
  // It has read the names that others gave to their chats, so the owner is asked about the last call.
  await terminalSays(assistant, 'yes');
  await vi.waitFor(() => expect(results).toHaveLength(calls.length));
  expect(results).toEqual([
    'A folder cannot be called main: it is reserved.',
    expect.stringContaining('let the owner say `/register … as left`'),
    expect.stringContaining('No chat is called Nobody.'),
    expect.stringContaining('No chat is called +1 234 567.'),
    'Family Chat is registered, with the folder groups/family-chat.',
    'The trigger of Family Chat is set.',
    {
      registered: [
        { number: 1, name: 'Terminal', folder: 'main', isMain: true, trigger: 'always' },
        { number: 2, name: 'Family Chat', folder: 'family-chat', isMain: false, trigger: '@home' },
      ],
      known: [{ number: 3, name: 'Club', jid: CLUB }],
    },
    'Your own chat cannot be taken out.',
    expect.stringContaining('Family Chat is not listened to any more.'),
  ]);
  await assistant.stop();
});

test('no other agent may, and none speaks for a group but that of its turn', async () => {
  using project = new TestProject();
  const results: unknown[] = [];
  const assistant = await startBesideChats(project, {
    agent: async ({ folder }, { onTool }) => {
      for (const name of ['register_group', 'unregister_group', 'set_trigger', 'list_groups']) {
        results.push((await onTool({ folder, name, input: {} })).value);
      }
      results.push((await onTool({ folder: 'main', name: 'list_groups', input: {} })).value);
      return answers('done');
    },
  });
  await terminalSays(assistant, '/register Club always');
  await assistant.chat.say('take over', { jid: CLUB, isDirect: false });
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['done']));
  expect(results).toEqual([
    'Only the main chat may use register_group.',
    'Only the main chat may use unregister_group.',
    'Only the main chat may use set_trigger.',
    'Only the main chat may use list_groups.',
    'This chat is not registered.',
  ]);
  await assistant.stop();
});

import { expect, test, vi } from 'vitest';
import { requestFor } from '../../model/request-check.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';

const FAMILY = { jid: 'chat:family', isDirect: false, isOwner: false };

/** Says something in the terminal and returns the answer. */
async function ask({ terminal }: TestAssistant, text: string): Promise<string> {
  const before = terminal.sent.length;
  await terminal.say(text);
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
  return terminal.sent[before]?.text ?? '';
}

/** An agent that notes what it is given, and calls `search_history` all the same. */
function curiousAgent() {
  const turns: { tools: string[]; off: readonly string[] | undefined }[] = [];
  const said: string[] = [];
  const agent: AgentScript = async ({ folder, tools, ownToolsOff }, { onTool }) => {
    turns.push({ tools: tools.map(({ name }) => name), off: ownToolsOff });
    const found = await onTool({ folder, name: 'search_history', input: { query: 'x' } });
    said.push(String(found.value));
    return answers('pong');
  };
  return { agent, turns, said };
}

test('a tool that is off in a chat is not offered there, cannot be called, and is so after a restart', async () => {
  using project = new TestProject();
  const { agent, turns, said } = curiousAgent();
  let assistant = await project.start({ agent });
  await assistant.chat.meet(FAMILY.jid, 'Family Chat');
  await ask(assistant, '/register Family Chat');
  expect(await ask(assistant, '/tools off search_history shell for Family Chat')).toBe(
    '`search_history`, `shell` are off in Family Chat, from the next message on.',
  );
  await assistant.chat.say('@Andy hello', FAMILY);
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['pong']));
  expect(turns[0]?.tools).not.toContain('search_history');
  expect(turns[0]?.tools).toContain('send_message');
  expect(turns[0]?.off).toEqual(['shell']);
  expect(said[0]).toBe('There is no host tool search_history.');
  await assistant.stop();

  assistant = await project.start({ agent });
  const list = await ask(assistant, '/tools for Family Chat');
  expect(list).toContain('- `search_history`: off\n');
  expect(list).toContain('- `shell`: off\n');
  expect(list).toContain('- `read_file`\n');
  expect(list).not.toContain('register_group');
  await ask(assistant, 'hello');
  expect(turns[1]).toMatchObject({ off: [], tools: expect.arrayContaining(['search_history']) });
  await ask(assistant, '/tools on search_history shell for "Family Chat"');
  await assistant.chat.say('@Andy again', FAMILY);
  await vi.waitFor(() => expect(turns).toHaveLength(3));
  expect(turns[2]).toMatchObject({ off: [], tools: expect.arrayContaining(['search_history']) });
  await assistant.stop();
});

test('what is typed wrongly is told; a pattern holds for tools to come; a removed chat takes its switches with it', async () => {
  using project = new TestProject();
  const { agent, turns } = curiousAgent();
  const assistant = await project.start({ agent });
  expect(await ask(assistant, '/tools off serach_history')).toBe(
    'There is no tool `serach_history`: did you mean `search_history`?',
  );
  expect(await ask(assistant, '/tools of shell')).toContain('Say `/tools`');
  expect(await ask(assistant, '/tools off s* github__*')).toContain('are off');
  expect(await ask(assistant, '/tools')).toContain('Off as well, should it come: `github__*`.');
  expect(await ask(assistant, '/tools on shell')).toBe(
    '`shell` is off with `s*`: say `/tools on s*`.',
  );
  await ask(assistant, 'hello');
  expect(turns[0]?.off).toContain('shell');
  expect(turns[0]?.tools.filter((name) => name.startsWith('s'))).toEqual([]);

  await assistant.chat.meet(FAMILY.jid, 'Family Chat');
  await ask(assistant, '/register Family Chat');
  await ask(assistant, '/tools off shell for Family Chat');
  expect(assistant.store.toolSwitches.offIn('family-chat')).toEqual(['shell']);
  assistant.store.removeGroup(FAMILY.jid);
  expect(assistant.store.toolSwitches.offIn('family-chat')).toEqual([]);
  await assistant.stop();
});

test('a tool that the model of a chat does not take is named with its reason, until it takes it', async () => {
  using project = new TestProject();
  let required = ['a word'];
  const agent: AgentScript = async ({ models: [model] }) => {
    const tools = [{ name: 'search_history', input_schema: { type: 'object', required } }];
    requestFor(model, { messages: [], tools });
    return answers('pong');
  };
  const assistant = await project.start({ agent });
  expect(await ask(assistant, '/tools')).toContain('- `search_history`\n');
  await ask(assistant, 'hello');
  expect(await ask(assistant, '/tools')).toContain(
    '- `search_history`: left out, because its input "a word" has a name that model servers refuse\n',
  );
  required = [];
  await ask(assistant, 'hello again');
  expect(await ask(assistant, '/tools')).toContain('- `search_history`\n');
  await assistant.stop();
});

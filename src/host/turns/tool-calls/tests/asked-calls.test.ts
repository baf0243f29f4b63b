import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { HostToolResult } from '../../../../sandbox/sandbox.ts';
import { type AgentScript, answers, TestProject, textsOf } from '../../../../testing/assistant.ts';
import { ContributionFolder } from '../../../../testing/contributions.ts';
import { openClosing } from '../../../../testing/owner/closing-question.ts';
import {
  ALLOWED,
  ASKS,
  familyCalls,
  guardsOf,
  message,
  question,
  REFUSED,
} from '../../../../testing/turn/guards.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../../testing/turn/tasks.ts';

test('a call that the owner has to allow is shown as it would run, and runs only after their yes', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'careful.ts': ASKS });
  const { guards } = await guardsOf(folder);
  const text = 'Pay\n```\nnothing\n```';
  const assistant = await familyCalls(project, { guards }, [message(text)]);
  expect(await question(assistant)).toBe(
    `The agent of Family wants to call \`send_message\`. It writes by itself.\n\n\`\`\`\`json\n${JSON.stringify({ text }, null, 2)}\n\`\`\`\`\n\nAllow it? Say yes or no.`,
  );
  // Nobody but the owner answers, and not in another chat.
  await assistant.chat.say('yes', { jid: FAMILY, isDirect: false, sender: 'bob' });
  await assistant.terminal.say('yes', { isOwner: false });
  await setImmediate();
  expect(assistant.results).toEqual([]);
  await assistant.terminal.say('yes');
  await isIdle(assistant);
  expect(assistant.results).toEqual([ALLOWED]);
  expect(textsOf(assistant.terminal)).toContain('`send_message` is allowed, this once.');
  expect(textsOf(assistant.chat)).toContain(text);
  await assistant.stop();
});

test('a call with one line of text shows that line, and JSON where the line could look like another', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'careful.ts': ASKS });
  const { guards } = await guardsOf(folder);
  const odd = ['two\nlines', 'a \u202eback', 'tab\t', ' spaces ', '\u001b[2J'];
  const texts = ['echo "it is" `date`', ...odd];
  for (const text of texts) {
    const assistant = await familyCalls(project, { guards }, [message(text)]);
    const fence = text === texts[0] ? `\`\`\`\n${text}\n\`\`\`` : '```json\n{\n  "text": "';
    expect(await question(assistant)).toContain(`It writes by itself.\n\n${fence}`);
    await assistant.stop();
  }
});

test('a no and other talk are both a no, for all that is open', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'careful.ts': ASKS });
  const { guards } = await guardsOf(folder);
  const calls = [message('one'), message('two'), message('three'), message('four')];
  const assistant = await familyCalls(project, { guards }, calls);
  const asked = (part: string) =>
    vi.waitFor(() => expect(textsOf(assistant.terminal).join()).toContain(part));
  // Three at once are put to a person; the fourth waits for the end of one.
  await asked('\none\n');
  await asked('Say `2 yes` or `2 no`.');
  await asked('Say `3 yes` or `3 no`.');
  expect(textsOf(assistant.terminal).join()).not.toContain('\nfour\n');
  await assistant.terminal.say('1 no');
  await asked('\nfour\n');
  await assistant.terminal.say('What is the time?');
  await vi.waitFor(() => expect(assistant.store.asks.inChat('terminal:main')).toEqual([]));
  await isIdle(assistant);
  expect(assistant.results).toEqual([REFUSED, REFUSED, REFUSED, REFUSED]);
  const told = textsOf(assistant.terminal);
  expect(told.filter((text) => text === '`send_message` was not allowed.')).toHaveLength(4);
  await assistant.stop();
});

test('no answer in time is a no', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'careful.ts': ASKS });
  const { guards } = await guardsOf(folder);
  const assistant = await familyCalls(project, { guards }, [message('three')]);
  await question(assistant);
  assistant.clock.pass(600_000);
  await isIdle(assistant);
  expect(assistant.results).toEqual([REFUSED]);
  const told = textsOf(assistant.terminal);
  expect(told).toContain('There was no answer in time: `send_message` was not allowed.');
  expect(textsOf(assistant.chat)).toEqual(['done']);
  await assistant.stop();
});

test('a question that a command ended with and one about a call are open at once, told apart by number', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'careful.ts': ASKS });
  const { guards } = await guardsOf(folder);
  const called = Promise.withResolvers<void>();
  const results: HostToolResult[] = [];
  const agent: AgentScript = async ({ folder: name }, { onTool }) => {
    if (name === 'main') return answers('of course');
    const result = onTool({ folder: name, name: 'send_message', input: { text: 'one' } });
    called.resolve();
    results.push(await result);
    return answers('done');
  };
  const assistant = await startWithFamily(project, agent, undefined, { guards });
  const { store, terminal, chat } = assistant;
  openClosing(store, { text: 'X?', declined: 'No X.' });
  await chat.say('@Andy go', { jid: FAMILY, isDirect: false });
  await called.promise;
  const told = (part: string) =>
    vi.waitFor(() => expect(textsOf(terminal).join('\n\n')).toContain(part));
  await told('Allow it? Say `2 yes` or `2 no`.');
  await terminal.say('yes');
  await told('2 questions are open here. Say the number of the one you mean:\n- `1 yes` and');
  await terminal.say('2 yes');
  await isIdle(assistant);
  expect(results).toEqual([ALLOWED]);
  expect(store.asks.inChat('terminal:main')).toMatchObject([{ number: 1, isClosing: true }]);
  await terminal.say('1 no');
  await told('No X.');
  expect(store.asks.inChat('terminal:main')).toEqual([]);
  await assistant.stop();
});

test('a turn that is stopped while it asks takes its question back', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'careful.ts': ASKS });
  const { guards } = await guardsOf(folder);
  const stopped = Promise.withResolvers<void>();
  const agent: AgentScript = async ({ folder: name }, { onTool }) => {
    void onTool({ folder: name, name: 'send_message', input: { text: 'one' } });
    await stopped.promise;
    return answers('over');
  };
  const assistant = await startWithFamily(project, agent, undefined, { guards });
  await assistant.chat.say('@Andy go', { jid: FAMILY, isDirect: false });
  const family = { ...assistant, results: [] };
  await question(family);
  stopped.resolve();
  await isIdle(assistant);
  expect(assistant.store.asks.inChat('terminal:main')).toEqual([]);
  expect(textsOf(assistant.terminal)).toContain(
    'What was asked last is not needed any more: the agent has ended.',
  );
  await assistant.stop();
});

test('a question of an earlier process is closed, and its turn asks again', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'careful.ts': ASKS });
  const { guards } = await guardsOf(folder);
  const first = await familyCalls(project, { guards }, [message('one')]);
  await question(first);
  await first.stop();
  const results: HostToolResult[] = [];
  const agent: AgentScript = async ({ folder: name }, { onTool }) => {
    results.push(await onTool({ folder: name, name: 'send_message', input: { text: 'one' } }));
    return answers('done');
  };
  const second = await project.start({ agent, over: { guards } });
  const family = { ...first, ...second, results };
  expect(await question(family)).toContain('\none\n');
  await second.terminal.say('yes');
  await isIdle(second);
  expect(results).toEqual([ALLOWED]);
  await second.stop();
});

import { expect, test, vi } from 'vitest';
import type { FollowUp, TurnEvents } from '../../../sandbox/sandbox.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../../testing/assistant.ts';
import { killAt } from '../../../testing/kill.ts';

/** An agent that works until the test lets it end, and takes what it is told if the test says so. */
class SlowAgent {
  readonly prompts: string[] = [];
  readonly told: FollowUp[] = [];
  events: TurnEvents | null = null;
  end: (text: string) => void = () => {};

  readonly run: AgentScript = ({ prompt }, events) => {
    this.prompts.push(prompt);
    this.events = events;
    events.onReady?.((followUp) => {
      this.told.push(followUp);
      return true;
    });
    return new Promise((resolve) => {
      this.end = (text) => resolve(answers(text));
    });
  };

  take(): void {
    this.events?.onAccepted?.(this.told.at(-1)?.id ?? '');
  }
}

async function withWorkingAgent(
  check: (parts: { assistant: TestAssistant; agent: SlowAgent }) => Promise<void>,
): Promise<void> {
  using project = new TestProject();
  const agent = new SlowAgent();
  const assistant = await project.start({ agent: agent.run });
  await assistant.terminal.say('one');
  await vi.waitFor(() => expect(agent.prompts).toEqual(['one']));
  await check({ assistant, agent });
  await assistant.stop();
}

test('messages during a turn reach its agent, one at a time, and are answered by it', () =>
  withWorkingAgent(async ({ assistant: { terminal, store }, agent }) => {
    await terminal.say('two');
    await terminal.say('three');
    expect(agent.told).toMatchObject([{ text: 'two' }]);
    agent.take();
    expect(agent.told).toMatchObject([{ text: 'two' }, { text: 'three' }]);
    agent.take();
    expect(store.turns.counts()).toMatchObject({ queued: 0, running: 1 });
    agent.end('all of it');
    await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['all of it']));
    await terminal.say('four');
    await vi.waitFor(() => expect(agent.prompts).toEqual(['one', 'four']));
    agent.end('and that');
    await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(2));
  }));

test('a message that the agent does not take gets a turn of its own', () =>
  withWorkingAgent(async ({ assistant: { terminal }, agent }) => {
    await terminal.say('two');
    expect(agent.told).toMatchObject([{ text: 'two' }]);
    agent.end('first');
    await vi.waitFor(() => expect(agent.prompts).toEqual(['one', 'two']));
    // It says so too late, and about another turn.
    agent.events?.onAccepted?.('upto-2');
    agent.end('second');
    await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['first', 'second']));
  }));

test('neither a command nor what another chat of the owner says is told to the agent', () =>
  withWorkingAgent(async ({ assistant: { terminal, chat }, agent }) => {
    await chat.meet('chat:me', 'Me', { isDirect: true, isOwners: true });
    await terminal.say('/groups');
    await chat.say('from the phone', { jid: 'chat:me', isOwner: true });
    await vi.waitFor(() => expect(textsOf(terminal)[0]).toContain('Registered'));
    expect(agent.told).toEqual([]);
    agent.end('first');
    await vi.waitFor(() => expect(agent.prompts).toEqual(['one', 'from the phone']));
    agent.end('second');
    await vi.waitFor(() => expect(textsOf(chat)).toEqual(['second']));
  }));

test('in a group, what was said before the call goes along, and talk alone does not', async () => {
  using project = new TestProject();
  const agent = new SlowAgent();
  const assistant = await project.start({ agent: agent.run });
  const { chat, store } = assistant;
  const jid = 'chat:family';
  const family = { jid, folder: 'family', name: 'Family', triggerWord: null, isMain: false };
  store.chats.see({ jid, channel: 'chat', name: 'Family', isDirect: false }, 1);
  store.groups.register({ ...family, needsTrigger: true }, 1);
  const inFamily = { jid, isDirect: false };
  await chat.say('@Andy one', inFamily);
  await vi.waitFor(() => expect(agent.prompts).toHaveLength(1));
  await chat.say('talk', inFamily);
  expect(agent.told).toEqual([]);
  await chat.say('@Andy two', inFamily);
  expect(agent.told[0]?.text).toMatch(/Ada: talk\n.*Ada: @Andy two$/);
  agent.take();
  agent.end('done');
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['done']));
  await assistant.stop();
});

const WORKING = `
  const assistant = await startAssistant(dir, { agent: ({ prompt }, { onReady, onAccepted }) => {
    onReady(({ id }) => (AFTER, true));
    return never();
  } });
  await assistant.terminal.say('one');
  await assistant.terminal.say('two');`;

test.each([
  ['before the agent takes it', 'now()', ['one', 'two']],
  ['after the agent took it', 'setImmediate(() => (onAccepted(id), now()))', ['one\ntwo']],
])('a host that dies %s has it answered once by the next one', async (_when, after, asked) => {
  using project = new TestProject();
  await killAt(project, WORKING.replace('AFTER', after));
  const prompts: string[] = [];
  const assistant = await project.start({
    agent: async ({ prompt }) => {
      const lines = prompt.split('\n').map((line) => line.replace(/^\[.*\] \S+: /, ''));
      prompts.push(lines.join('\n'));
      return answers(`answer ${prompts.length}`);
    },
  });
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toHaveLength(asked.length));
  await vi.waitFor(() => expect(assistant.store.turns.isOpen('terminal:main')).toBe(false));
  expect(prompts).toEqual(asked);
  await assistant.stop();
});

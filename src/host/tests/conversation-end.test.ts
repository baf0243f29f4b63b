import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { TestClock } from '../../testing/clock.ts';
import { FAMILY, isIdle, startWithFamily } from '../../testing/turn/tasks.ts';

const HOUR_MS = 3_600_000;

/** An agent that goes on with what it is given, or begins `s1`, `s2` and so on. */
function sessions() {
  const begun: (string | null)[] = [];
  let count = 0;
  const agent: AgentScript = async ({ session }) => {
    begun.push(session);
    count += session === null ? 1 : 0;
    return { ...answers('pong'), session: session ?? `s${count}` } as ReturnType<typeof answers>;
  };
  return { begun, agent };
}

test.for([
  ['24 hours by default', {}, 24],
  ['as many as the owner says', { SESSION_EXPIRY_HOURS: '1.5' }, 1.5],
] as const)('a conversation ends after a silence: %s', async ([, environment, hours]) => {
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const { begun, agent } = sessions();
  const over = { now: clock.now, setTimer: clock.setTimer };
  const assistant = await project.start({ agent, environment, over });
  const say = async () => {
    await assistant.terminal.say('ping');
    await isIdle(assistant);
  };
  await say();
  clock.pass(hours * HOUR_MS);
  await say();
  // The silence counts from the last answer, not from the first.
  clock.pass(hours * HOUR_MS);
  await say();
  clock.pass(hours * HOUR_MS + 1);
  await say();
  await say();
  expect(begun).toEqual([null, 's1', 's1', null, 's2']);
  await assistant.stop();
});

test('with 0 it never ends by itself', async () => {
  using project = new TestProject();
  const { begun, agent } = sessions();
  const assistant = await startWithFamily(project, agent);
  for (const years of [0, 20]) {
    assistant.clock.moveTo(`${2026 + years}-12-01T12:00:00Z`);
    await assistant.terminal.say('ping');
    await isIdle(assistant);
  }
  expect(begun).toEqual([null, 's1']);
  await assistant.stop();
});

test('/reset ends it here or in the chat that is named, and what runs is still answered', async () => {
  using project = new TestProject();
  const { begun, agent } = sessions();
  let release = () => {};
  const assistant = await startWithFamily(project, async (request, events) => {
    if (request.prompt.includes('slowly')) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    return await agent(request, events);
  });
  const { terminal, chat } = assistant;
  const family = async (text: string) => {
    await chat.say(`@Andy ${text}`, { jid: FAMILY, isDirect: false });
  };
  const untilIdle = () => isIdle(assistant);
  await terminal.say('ping');
  await untilIdle();
  await family('ping');
  await untilIdle();
  await family('slowly');
  await terminal.say('/reset Family');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('in Family begins a new'));
  release();
  await untilIdle();
  expect(textsOf(chat)).toEqual(['pong', 'pong']);
  // The end of the turn that ran has not brought the old one back.
  await family('ping');
  await untilIdle();
  await family('ping');
  await untilIdle();
  await terminal.say('ping');
  await untilIdle();
  expect(begun).toEqual([null, null, 's2', null, 's3', 's1']);
  await terminal.say('/reset');
  await untilIdle();
  await terminal.say('ping');
  await untilIdle();
  expect(begun.at(-1)).toBeNull();
  await terminal.say('/reset Strangers');
  await untilIdle();
  expect(textsOf(terminal).at(-1)).toContain('No registered chat is called Strangers');
  await assistant.stop();
});

test('/reset in the very first turn stands as well', async () => {
  using project = new TestProject();
  const { begun, agent } = sessions();
  let release = () => {};
  const isHeld = new Promise<void>((resolve) => {
    release = resolve;
  });
  const assistant = await project.start({
    agent: async (request, events) => {
      await isHeld;
      return await agent(request, events);
    },
  });
  await assistant.terminal.say('ping');
  await assistant.terminal.say('/reset');
  await vi.waitFor(() => expect(assistant.terminal.sent).toHaveLength(1));
  release();
  await isIdle(assistant);
  await assistant.terminal.say('ping');
  await isIdle(assistant);
  expect(begun).toEqual([null, null]);
  await assistant.stop();
});

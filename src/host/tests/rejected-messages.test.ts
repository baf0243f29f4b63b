import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../testing/assistant.ts';

/** A model's server that refuses whatever holds the word, and is down while `isDown`. */
function serverThatRefuses(prompts: string[], world: { isDown: boolean }): AgentScript {
  return async ({ prompt }) => {
    prompts.push(prompt);
    const broken = { kind: 'failed' as const, code: 'MODEL_FAILED' as const };
    if (world.isDown) return { ...broken, message: 'It is down.', reason: 'down' };
    if (!prompt.includes('POISON')) return answers(`Yes: ${prompt}`);
    return { ...broken, message: 'It refused the request (400).', reason: 'rejected' };
  };
}

test('a message that the server refuses is left behind, and the next one says so in a line', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const assistant = await project.start({ agent: serverThatRefuses(prompts, { isDown: false }) });
  const { terminal } = assistant;
  await terminal.say('POISON');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('left out from now on'));
  await terminal.say('hello');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('Yes: '));
  expect(prompts.at(-1)).toBe(
    "(A question before this was left out, because the model's server refused it.)\nhello",
  );
  await terminal.say('and now?');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('Yes: and now?'));
  await assistant.stop();
});

test('after a refusal, /retry asks the same again', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const assistant = await project.start({ agent: serverThatRefuses(prompts, { isDown: false }) });
  await assistant.terminal.say('POISON');
  await vi.waitFor(() => expect(assistant.store.turns.failed()).toHaveLength(1));
  await assistant.terminal.say('/retry');
  await vi.waitFor(() => expect(prompts).toEqual(['POISON', 'POISON']));
  await assistant.stop();
});

/** Something that can happen to a chat whose model does not answer as it should. */
const STEPS = [
  { kind: 'say', text: 'first' },
  { kind: 'say', text: 'POISON' },
  { kind: 'say', text: '/reset' },
  { kind: 'say', text: '/retry' },
  { kind: 'say', text: '/stop' },
  { kind: 'become', fault: 'none' },
  { kind: 'become', fault: 'down' },
  { kind: 'become', fault: 'rejected' },
  { kind: 'become', fault: 'died' },
  { kind: 'become', fault: 'throws' },
  { kind: 'restart' },
] as const;
type Step = (typeof STEPS)[number];
type Fault = Extract<Step, { kind: 'become' }>['fault'];

/** Makes a change and then fails in the way that is set, or answers. */
function faultyServer(prompts: string[], world: { fault: Fault }): AgentScript {
  return async ({ prompt, earlier = [] }, events) => {
    prompts.push([prompt, ...earlier.map(({ name }) => name)].join('\n'));
    events.onOwnToolRun?.({ kind: 'began', id: 'a', name: 'shell', input: { command: 'BEFORE' } });
    const { fault } = world;
    if (fault === 'throws') throw new Error('It broke.');
    if (fault === 'died') return { kind: 'failed', code: 'AGENT_DIED', message: 'It died.' };
    const isRefused = fault === 'rejected' || prompt.includes('POISON');
    if (fault === 'none' && !isRefused) return answers(`Yes: ${prompt}`);
    const reason = isRefused ? 'rejected' : 'down';
    return { kind: 'failed', code: 'MODEL_FAILED', message: 'It broke.', reason };
  };
}

async function carryOut(project: TestProject, steps: readonly Step[]) {
  const prompts: string[] = [];
  const world: { fault: Fault } = { fault: 'down' };
  const start = () => project.start({ agent: faultyServer(prompts, world) });
  let assistant = await start();
  const isIdle = () =>
    vi.waitFor(() =>
      expect(assistant.store.turns.counts()).toMatchObject({ queued: 0, running: 0, unsent: 0 }),
    );
  for (const step of steps) {
    if (step.kind === 'become') world.fault = step.fault;
    else if (step.kind === 'say') await assistant.terminal.say(step.text);
    else {
      await assistant.stop();
      assistant = await start();
    }
    await isIdle();
  }
  await assistant.terminal.say('/reset');
  await isIdle();
  world.fault = 'none';
  prompts.length = 0;
  await assistant.terminal.say('hello');
  await isIdle();
  const answer = textsOf(assistant.terminal).at(-1);
  await assistant.stop();
  return { prompts, answer };
}

test('whatever failed before, /reset and a good model bring the chat back, with nothing of before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 12 }),
      async (steps) => {
        using project = new TestProject();
        const came = await carryOut(project, steps);
        expect(came).toEqual({ prompts: ['hello'], answer: 'Yes: hello' });
      },
    ),
    { numRuns: 20 },
  );
});

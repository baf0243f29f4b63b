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

test('whatever failed before, /reset and a good model bring the chat back, with nothing of before', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const world = { isDown: true };
  const assistant = await project.start({ agent: serverThatRefuses(prompts, world) });
  const { terminal, store } = assistant;
  for (const text of ['first', 'POISON', 'second']) {
    const before = prompts.length;
    await terminal.say(text);
    await vi.waitFor(() => expect(prompts.length).toBeGreaterThan(before));
    await vi.waitFor(() => expect(store.turns.counts().running).toBe(0));
  }
  await terminal.say('/reset');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('had no answer are dropped'));
  world.isDown = false;
  await terminal.say('hello');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('Yes: hello'));
  expect(prompts.at(-1)).toBe('hello');
  await assistant.stop();
});

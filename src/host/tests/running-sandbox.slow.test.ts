import { expect, test, vi } from 'vitest';
import {
  answersOf,
  borrowed,
  startAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../testing/model/anthropic.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

await describeWithEngine('bubblewrap', 'an agent at work in its container', () => {
  test('hears what is said meanwhile, is stopped at the owner’s word, and comes back', async () => {
    let say: (text: string) => Promise<void> = async () => {};
    const script: AnthropicScript = async (request) => {
      const asked = lastUserText(request);
      if (asked === 'think for ever') return { kind: 'stall' };
      if (asked !== 'feed the cat') return [{ type: 'text', text: `Done: ${asked}` }];
      await say('and the dog');
      return [{ type: 'tool_use', name: 'shell', input: { command: 'echo fed' } }];
    };
    await using sandboxed = await sandboxProject({ engine: 'bubblewrap', script });
    using project = new TestProject();
    const { sandbox, server } = sandboxed;
    const assistant = await startAssistant(project.dir, {
      environment: sandboxed.environment,
      over: {
        sandbox: borrowed(sandbox),
      },
    });
    const { terminal, store } = assistant;
    say = (text) => terminal.say(text);

    await say('feed the cat');
    await vi.waitFor(() => expect(answersOf(terminal)).toEqual(['Done: and the dog']));
    const [, second, ...more] = server.requests;
    expect(more).toEqual([]);
    expect(second && lastToolResults(second).join()).toContain('fed');
    expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0, failed: 0 });

    await say('think for ever');
    await vi.waitFor(() => expect(server.requests).toHaveLength(3));
    await say('/stop');
    await vi.waitFor(() => expect(textsOf(terminal)).toContain('Stopped.'));
    await vi.waitFor(() => expect(sandbox.warm()).toBe(0));
    await say('hello');
    await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('Done: hello'));
    await assistant.stop();
  });
});

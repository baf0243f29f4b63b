import { expect, test, vi } from 'vitest';
import { borrowed, startAssistant, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { type AnthropicScript, lastToolResults } from '../../../src/testing/model/anthropic.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';

const TASK = 'write the file';

/** The chat's agent lets a sub-agent write a file, and reads it itself. */
const script: AnthropicScript = (request) => {
  const [result] = lastToolResults(request);
  if (JSON.stringify(request.body.system).includes('You are a sub-agent')) {
    return result === undefined
      ? [{ type: 'tool_use', name: 'shell', input: { command: 'echo from beside >beside.txt' } }]
      : [{ type: 'text', text: 'written' }];
  }
  if (result === undefined) {
    return [{ type: 'tool_use', name: 'spawn_await', input: { task: TASK } }];
  }
  return result.includes('written')
    ? [{ type: 'tool_use', name: 'shell', input: { command: 'cat beside.txt' } }]
    : [{ type: 'text', text: `I read: ${result}` }];
};

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, 'a sub-agent in a container', () => {
    test('works on the folder of its chat while that waits, and is gone afterwards', async () => {
      await using sandboxed = await sandboxProject({ engine, script });
      using project = new TestProject();
      const { sandbox } = sandboxed;
      const assistant = await startAssistant(project.dir, {
        environment: { ...sandboxed.environment, SPAWN: 'on' },
        over: { sandbox: borrowed(sandbox) },
      });
      await assistant.terminal.say('go');
      await vi.waitFor(() => expect(assistant.terminal.sent).toHaveLength(1));
      expect(textsOf(assistant.terminal)[0]).toContain('I read: from beside');
      const offered = sandboxed.server.requests.map(({ body }) => JSON.stringify(body.tools));
      expect(offered.map((tools) => tools.includes('"spawn_await"'))).toEqual([
        ...[true, false, false, true, true],
      ]);
      await vi.waitFor(() => expect(sandbox.warm()).toBe(1));
      await assistant.stop();
    });
  });
}

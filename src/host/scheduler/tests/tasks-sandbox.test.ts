import { expect, test, vi } from 'vitest';
import { borrowed, startAssistant, TestProject, textsOf } from '../../../testing/assistant.ts';
import { TestClock } from '../../../testing/clock.ts';
import {
  type AnthropicRequest,
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../../testing/model/anthropic.ts';
import { sandboxProject } from '../../../testing/sandbox-project.ts';

/** Schedules what it is asked to, and in a task says the time or, from the second on, nothing. */
const script: AnthropicScript = (request) => {
  const said = lastUserText(request);
  const [result] = lastToolResults(request);
  if (result !== undefined) return [{ type: 'text', text: `The host says: ${result}` }];
  if (!said.startsWith('[Scheduled task')) {
    return [{ type: 'tool_use', name: 'schedule_task', input: JSON.parse(said) }];
  }
  if (request.body.messages.length < 6) return [{ type: 'text', text: 'It is time.' }];
  return [{ type: 'tool_use', name: 'stay_silent', input: {} }];
};

test('a model schedules a task, does it in its container when it is due, and may stay silent', async () => {
  await using sandboxed = await sandboxProject({ engine: 'bubblewrap', script });
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const { sandbox } = sandboxed;
  const assistant = await startAssistant(project.dir, {
    environment: sandboxed.environment,
    over: {
      now: clock.now,
      setTimer: clock.setTimer,
      sandbox: borrowed(sandbox),
    },
  });
  const { terminal, store } = assistant;
  await terminal.say('{ "prompt": "Say when it is time", "kind": "every", "schedule": "1h" }');
  await vi.waitFor(() => expect(terminal.sent).toHaveLength(1));
  expect(textsOf(terminal)[0]).toContain('Task 1: active, every hour, next Sat 21 Nov 2026, 13:00');
  clock.pass(3_600_000);
  await vi.waitFor(() => expect(terminal.sent).toHaveLength(2));
  expect(textsOf(terminal)[1]).toBe('It is time.');
  clock.pass(3_600_000);
  await vi.waitFor(() => expect(store.taskRuns.last(1, 1)[0]?.outcome).toBe('silent'));
  expect(terminal.sent).toHaveLength(2);
  // The task went on with the conversation in which it was made.
  expect(sandboxed.server.requests.at(-1)?.body.messages[0]).toMatchObject({ role: 'user' });
  expect(textOfFirst(sandboxed.server.requests.at(-1))).toContain('Say when it is time');
  await assistant.stop();
});

function textOfFirst(request: AnthropicRequest | undefined): string {
  return JSON.stringify(request?.body.messages[0]);
}

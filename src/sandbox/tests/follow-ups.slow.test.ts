import Docker from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine, TEST_DAEMON } from '../../testing/engine.ts';
import {
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../testing/model/anthropic.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';
import { shortHash } from '../protocol/socket-folder.ts';
import type { FollowUp } from '../sandbox.ts';

const docker = new Docker({ socketPath: TEST_DAEMON.socketPath });
const LOOK = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };

/** Hears of one turn what the host would. */
function listener() {
  const took: string[] = [];
  let send: ((followUp: FollowUp) => boolean) | null = null;
  return {
    took,
    tell: (id: string, text: string): boolean => send?.({ id, text }) ?? false,
    onAccepted: (id: string) => void took.push(id),
    onReady: (given: (followUp: FollowUp) => boolean) => {
      send = given;
    },
  };
}

await describeWithEngine('docker', 'what is said while an agent works', () => {
  let project: SandboxProject;
  /** The model's script; each test sets its own. */
  let script: AnthropicScript;

  beforeAll(async () => {
    project = await sandboxProject({
      engine: 'docker',
      tools: [LOOK],
      script: (request) => script(request),
    });
  });
  afterAll(() => project?.[Symbol.asyncDispose]());

  test('during a tool call is in the next request, and the session keeps it in its place', async () => {
    const heard = listener();
    script = (request) =>
      lastUserText(request) === 'feed the cat'
        ? [{ type: 'tool_use', name: 'look', input: {} }]
        : [{ type: 'text', text: 'both are fed' }];
    const onTool = async () => {
      expect(heard.tell('more', 'and the dog')).toBe(true);
      return { ok: true, value: 'a cat' };
    };
    const outcome = await project.turn('feed the cat', { ...heard, onTool });
    if (outcome.kind !== 'answered') throw new Error(outcome.message);
    expect(outcome.text).toBe('both are fed');
    expect(heard.took).toEqual(['more']);
    const request = project.server.requests.at(-1);
    if (request === undefined) throw new Error('no request');
    expect(lastToolResults(request)).toEqual(['a cat']);
    expect(lastUserText(request)).toBe('and the dog');
    expect(heard.tell('late', 'and the bird')).toBe(false);

    script = () => [{ type: 'text', text: 'yes' }];
    await project.answer('really?', { session: outcome.session });
    const roles = project.server.requests.at(-1)?.body.messages.map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect(JSON.stringify(project.server.requests.at(-1)?.body.messages[2])).toContain(
      'and the dog',
    );
  });

  test('while the model gives its answer has an answer of its own in the same turn', async () => {
    const heard = listener();
    script = (request) => {
      const text = `answer to ${lastUserText(request)}`;
      if (lastUserText(request) !== 'one') return [{ type: 'text', text }];
      heard.tell('more', 'two');
      return { kind: 'slow', blocks: [{ type: 'text', text }], chunkBytes: 100, delayMs: 5 };
    };
    expect(await project.answer('one', heard)).toBe('answer to one\n\nanswer to two');
    expect(heard.took).toEqual(['more']);
  });

  test('is not taken by an agent whose model fails', async () => {
    const heard = listener();
    script = () => {
      heard.tell('more', 'two');
      return { kind: 'error', status: 401 };
    };
    expect(await project.turn('one', heard)).toMatchObject({ code: 'MODEL_FAILED' });
    expect(heard.took).toEqual([]);
  });

  test('needs no other container, before and after', async () => {
    script = () => [{ type: 'text', text: 'yes' }];
    const filters = { label: [`patchclaw.instance=${shortHash(project.dataDir)}`] };
    const [before, ...more] = await docker.listContainers({ all: true, filters });
    expect(more).toEqual([]);
    await project.answer('hello');
    const after = await docker.listContainers({ all: true, filters });
    expect(after.map(({ Id }) => Id)).toEqual([before?.Id]);
  });
});

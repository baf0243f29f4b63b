import { once } from 'node:events';
import { setTimeout as later } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openDockerLine } from '../../testing/claw/docker-line.ts';
import { TestConversation, TestTree } from '../../testing/claw/supervised-project.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicReply,
  type AnthropicServer,
  startAnthropicServer,
} from '../../testing/model/anthropic.ts';
import { DEFAULT_TIMING } from '../timing.ts';

/** A channel of the owner's that takes nothing and never lets go. */
const HUNG_CHANNEL = `
  import { defineChannel } from './channel.ts';
  const never = () => new Promise(() => {});
  const me = { jid: 'hung:me', isDirect: true, isOwner: true, sender: 'me', senderName: null };
  const about = { id: '1', chatName: 'Hung', mentionsAssistant: false, text: '/groups', sentAt: 1 };
  export const channel = defineChannel({
    name: 'hung',
    create: () => ({
      name: 'hung',
      async connect(events) {
        events.onStatus({ state: 'connected', detail: null });
        await events.onChat({ jid: 'hung:me', name: 'Hung', isDirect: true, isOwners: true });
        await events.onMessage({ ...me, ...about });
      },
      disconnect: never,
      send: never,
      setTyping: never,
      ownsJid: (jid) => jid.startsWith('hung:'),
      status: () => ({ state: 'connected', detail: null }),
    }),
  });`;

let server: AnthropicServer;
let reply: AnthropicReply;

beforeAll(async () => {
  server = await startAnthropicServer(() => reply);
});
beforeEach(() => {
  reply = { kind: 'stall' };
});
afterAll(() => server.close());

/** The goal is ten seconds; on a slow machine only a process that hangs takes so long. */
const HANGING_MS = 60_000;

/** Starts an assistant, has it ask a model that hangs, and tells it to end. */
async function leaveInTheMiddle(
  tree: TestTree,
  environment: Record<string, string>,
  leave: (conversation: TestConversation) => Promise<void> | void,
): Promise<{ readonly exitCode: unknown; readonly ms: number }> {
  await using conversation = TestConversation.start(tree, environment);
  await conversation.sees('> ');
  const before = server.requests.length;
  conversation.write('ping\n');
  await vi.waitFor(() => expect(server.requests.length).toBe(before + 1));
  const startedAt = performance.now();
  const ended = once(conversation.child, 'exit');
  await leave(conversation);
  const [exitCode] = await ended;
  return { exitCode, ms: performance.now() - startedAt };
}

/** Counts the next process's answers, with a working model, until all are given. */
async function whatIsSaidNext(tree: TestTree, environment: Record<string, string>) {
  reply = [{ type: 'text', text: 'pong' }];
  const before = server.requests.length;
  await using conversation = TestConversation.start(tree, environment);
  await conversation.sees('pong');
  expect(await conversation.end('/help\n')).toBe(0);
  const answers = conversation.stdout.split('pong').length - 1;
  return { answers, requests: server.requests.length - before };
}

const environmentFor = (over: Record<string, string>) => ({
  ANTHROPIC_API_KEY: 'sk-test',
  ANTHROPIC_BASE_URL: server.url,
  ...over,
});

await describeWithEngine(
  'bubblewrap',
  'an assistant that is told to end in the middle of a turn',
  () => {
    test('ends within 10 s though the model hangs, and the next process answers, once', async () => {
      using tree = new TestTree();
      const environment = environmentFor({});
      const { exitCode, ms } = await leaveInTheMiddle(tree, environment, ({ child }) => {
        child.kill('SIGTERM');
      });
      expect(exitCode).toBe(0);
      expect(ms).toBeLessThan(HANGING_MS);
      expect(await whatIsSaidNext(tree, environment)).toEqual({ answers: 1, requests: 1 });
    });

    test('ends at once at the second Ctrl-C', async () => {
      using tree = new TestTree();
      const { exitCode, ms } = await leaveInTheMiddle(
        tree,
        environmentFor({}),
        async ({ child }) => {
          child.kill('SIGINT');
          // Those of one key press, which come together, count as one.
          child.kill('SIGINT');
          await later(1_000);
          expect(child.exitCode).toBeNull();
          child.kill('SIGINT');
        },
      );
      expect(exitCode).toBe(0);
      expect(ms).toBeLessThan(DEFAULT_TIMING.stopMs);
    });
  },
);

await describeWithEngine('docker', 'an assistant around which everything hangs', () => {
  test('ends within 10 s, and the next process answers, once', async () => {
    using tree = new TestTree({ 'src/channels/hung.ts': HUNG_CHANNEL });
    await using line = await openDockerLine();
    const environment = environmentFor({ CLAW_SANDBOX: 'docker', DOCKER_HOST: line.address });
    const { exitCode, ms } = await leaveInTheMiddle(tree, environment, ({ child }) => {
      line.freeze();
      child.kill('SIGTERM');
    });
    expect(exitCode).toBe(0);
    expect(ms).toBeLessThan(HANGING_MS);
    const next = environmentFor({ CLAW_SANDBOX: 'docker' });
    expect(await whatIsSaidNext(tree, next)).toEqual({ answers: 1, requests: 1 });
  });
});

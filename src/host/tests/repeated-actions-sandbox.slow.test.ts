import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  borrowed,
  startAssistant,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import type {
  AnthropicBlock,
  AnthropicReply,
  AnthropicRequest,
} from '../../testing/model/anthropic.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';

const CALLS: readonly AnthropicBlock[] = [
  { type: 'text', text: 'I pay first.' },
  { type: 'tool_use', name: 'shell', input: { command: 'echo paid >> payments.txt' } },
  { type: 'tool_use', name: 'remember', input: { text: 'Rent is paid by transfer.' } },
  { type: 'tool_use', name: 'send_message', input: { text: 'SIDE EFFECT' } },
];

/** The results of tools that a request holds, in order. */
function resultsIn({ body }: AnthropicRequest): readonly string[] {
  return body.messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((block) =>
          block.type === 'tool_result' ? [JSON.stringify(block['content'])] : [],
        ),
  );
}

type Scene = {
  readonly sandboxed: SandboxProject;
  readonly project: TestProject;
  readonly start: () => Promise<TestAssistant>;
  readonly done: () => { readonly paid: number; readonly noted: number };
};

/** Runs a scene on a real container. The model acts where it sees no results, and `afterwards` answers what follows. */
async function scene(
  afterwards: (request: AnthropicRequest) => AnthropicReply | Promise<AnthropicReply>,
  run: (scene: Scene) => Promise<void>,
  calls: readonly AnthropicBlock[] = CALLS,
): Promise<void> {
  await using sandboxed = await sandboxProject({
    engine: 'bubblewrap',
    script: (request) => (resultsIn(request).length === 0 ? calls : afterwards(request)),
  });
  using project = new TestProject();
  const linesOf = (file: string, text: string): number => {
    const path = join(sandboxed.dir, 'groups/main', file);
    return readFileSync(path, 'utf8').split(text).length - 1;
  };
  await run({
    sandboxed,
    project,
    start: () =>
      startAssistant(project.dir, {
        environment: sandboxed.environment,
        over: { sandbox: borrowed(sandboxed.sandbox) },
      }),
    done: () => ({
      paid: linesOf('payments.txt', 'paid'),
      noted: linesOf('CLAUDE.md', 'Rent is paid by transfer.'),
    }),
  });
}

await describeWithEngine('bubblewrap', 'actions of a turn that is interrupted', () => {
  test.for<AnthropicReply>([
    { kind: 'error', status: 500 },
    { kind: 'garbage' },
    { kind: 'drop', blocks: [{ type: 'text', text: 'It is' }] },
  ])(
    'are done once where the model fails after them (%j): /retry goes on behind them',
    async (failure) => {
      let isBroken = true;
      await scene(
        () => (isBroken ? failure : [{ type: 'text', text: 'All is paid.' }]),
        async ({ start, done, sandboxed }) => {
          const { terminal, store, stop } = await start();
          await terminal.say('pay the rent');
          await vi.waitFor(() => expect(store.turns.counts().failed).toBe(1));
          isBroken = false;
          await terminal.say('/retry');
          await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('All is paid.'));
          expect(done()).toEqual({ paid: 1, noted: 1 });
          expect(textsOf(terminal).filter((text) => text === 'SIDE EFFECT')).toHaveLength(1);
          // The model was shown real calls and results, and the conversation keeps them.
          await terminal.say('thanks');
          await vi.waitFor(() => expect(store.turns.counts().queued).toBe(0));
          const last = sandboxed.server.requests.at(-1);
          expect(last && resultsIn(last)).toHaveLength(3);
          expect(last && resultsIn(last).join()).toContain('Queued for Terminal');
          await stop();
        },
      );
    },
  );

  test('a tool that runs at an orderly stop ends, no model is asked, and the next start goes on', async () => {
    await scene(
      () => [{ type: 'text', text: 'All is paid.' }],
      async ({ start, done, sandboxed }) => {
        const first = await start();
        await first.terminal.say('pay the rent');
        await vi.waitFor(() => expect(sandboxed.server.requests).toHaveLength(1));
        await vi.waitFor(() => expect(first.store.turnCalls.before(turnOf(first))).toHaveLength(1));
        await first.stop(60_000);
        expect(sandboxed.server.requests).toHaveLength(1);
        expect(textsOf(first.terminal).at(-1)).toContain('I pay first.');
        const second = await start();
        await vi.waitFor(() => expect(textsOf(second.terminal)).toEqual(['All is paid.']));
        expect(done()).toMatchObject({ paid: 1 });
        expect(sandboxed.server.requests).toHaveLength(2);
        await second.stop();
      },
      [
        { type: 'text', text: 'I pay first.' },
        {
          type: 'tool_use',
          name: 'shell',
          input: { command: 'sleep 1; echo paid >> payments.txt; echo x >> CLAUDE.md' },
        },
      ],
    );
  });

  test('a command that ran when its container was killed is told as unknown, and not repeated', async () => {
    const shown: string[] = [];
    await scene(
      (request) => {
        shown.push(...resultsIn(request));
        return [{ type: 'text', text: 'I looked: it is paid.' }];
      },
      async ({ start, done, sandboxed }) => {
        const { terminal, store, stop } = await start();
        await terminal.say('pay the rent');
        await vi.waitFor(() => expect(done().paid).toBe(1));
        await sandboxed.sandbox.stop('main');
        await vi.waitFor(() => expect(store.turns.counts().failed).toBe(1));
        await terminal.say('/retry');
        await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('I looked: it is paid.'));
        expect(shown).toEqual([expect.stringContaining('unknown: the assistant ended')]);
        expect(done()).toMatchObject({ paid: 1 });
        await stop();
      },
      [
        {
          type: 'tool_use',
          name: 'shell',
          input: { command: 'echo x >> CLAUDE.md; echo paid >> payments.txt; sleep 600' },
        },
      ],
    );
  });
});

function turnOf({ store }: TestAssistant): string {
  return store.turns.leftBy({ not: 'nobody' })[0]?.id ?? '';
}

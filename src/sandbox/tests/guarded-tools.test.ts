import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastToolResults } from '../../testing/model/anthropic.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import { AgentTurn } from '../agent-link/turn.ts';
import type { HostFrame } from '../protocol/frames.ts';
import type { HostToolCall, HostToolResult, OwnToolVerdict, TurnEvents } from '../sandbox.ts';

await describeWithEngine('bubblewrap', 'a tool of the agent’s own that a guard looks at', () => {
  test('runs when the host allows it, and its result is the one that the host lets through', async () => {
    const commands = ['touch refused', 'echo shown; touch allowed', 'ls'];
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script(request) {
        const results = lastToolResults(request);
        if (results.length > 0) return [{ type: 'text', text: results.join('\n---\n') }];
        return commands.map((command) => ({
          type: 'tool_use' as const,
          name: 'shell',
          input: { command: `cd /workspace/group; ${command}` },
        }));
      },
    });
    const checked: HostToolCall[] = [];
    const onOwnTool = async (call: HostToolCall): Promise<OwnToolVerdict> => {
      checked.push(call);
      const { command } = call.input as { command: string };
      if (command.includes('refused')) return { kind: 'refused', reason: 'Never touch that.' };
      if (command.includes('ls')) return { kind: 'allowed', after: null };
      const after = async ({ value }: HostToolResult) => ({ ok: true, value: `seen: ${value}` });
      return { kind: 'allowed', after };
    };
    const answer = await project.answer('go', { guardedOwnTools: ['shell'], onOwnTool });
    expect(answer).toContain('Never touch that.');
    expect(answer).toContain('seen: shown\n[exit code 0]');
    expect(checked.map(({ folder, name }) => [folder, name])).toEqual(
      Array(3).fill(['family', 'shell']),
    );
    expect(await project.answer('go again')).not.toContain('Never touch that.');
    expect(checked).toHaveLength(3);
    // Where guards want to look and nothing answers for them, nothing runs.
    expect(await project.answer('and again', { guardedOwnTools: 'all' })).toContain(
      'Nothing here may allow this call.',
    );
  });
});

await describeWithEngine('bubblewrap', 'a tool of the agent’s own that is off', () => {
  test('is not there in that turn, and is in the next', async () => {
    const offered: string[][] = [];
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script({ body: { tools = [] } }) {
        offered.push(tools.map(({ name }) => name));
        return [{ type: 'text', text: 'well' }];
      },
    });
    await project.answer('go', { ownToolsOff: ['shell', 'write_file'] });
    await project.answer('go again');
    const [without = [], all = []] = offered;
    expect(all.filter((name) => !without.includes(name)).sort()).toEqual(['shell', 'write_file']);
  });
});

const REQUEST = {
  id: 't1',
  folder: 'family',
  isMain: false,
  session: null,
  models: [testModel()] as const,
  system: '',
  prompt: '',
  tools: [],
};

function turnWith(onOwnTool: TurnEvents['onOwnTool'], mayCall: boolean) {
  const sent: HostFrame[] = [];
  const turn = new AgentTurn({
    request: REQUEST,
    events: { onTool: async () => ({ ok: true, value: null }), onOwnTool },
    toolNames: new Set(),
    callLimit: { take: () => mayCall },
    send: (frame) => sent.push(frame) > 0,
  });
  return { sent, turn };
}

test('such calls count: too many are refused, a flood and a result that nobody awaits end the agent', () => {
  const { sent, turn } = turnWith(async () => ({ kind: 'allowed', after: null }), false);
  const check = { type: 'tool_check', id: '1', turn: 't1', name: 'shell', input: {} } as const;
  expect(turn.accept(check)).toBeNull();
  expect(sent).toMatchObject([{ type: 'tool_verdict', id: '1', isAllowed: false }]);
  const outcomes = Array.from({ length: 1_000 }, () => turn.accept(check));
  expect(outcomes.at(-1)).toBe('a flood of tool calls');
  const ran = { type: 'tool_ran', id: '9', turn: 't1', ok: true, value: '' } as const;
  expect(turn.accept(ran)).toBe('a result that was not asked for');
});

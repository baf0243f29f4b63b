import { expect, test, vi } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastToolResults } from '../../testing/model/anthropic.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import { AgentTurn } from '../agent-link/turn.ts';
import type { HostFrame } from '../protocol/frames.ts';
import type { AgentQuestion, TurnEvents } from '../sandbox.ts';

const ASKER = `import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
export const tool = defineTool({
  name: 'asker',
  description: 'Asks.',
  input: z.object({ text: z.string() }),
  async run({ text }, { ask }) {
    if (text === 'Who?') return JSON.stringify(await ask({ text, takesText: true }));
    const choices = [{ word: 'red', label: 'red' }, { word: 'blue', label: 'blue' }];
    return JSON.stringify(await ask({ text, choices, payload: { wall: 1 } }));
  },
});`;

await describeWithEngine('bubblewrap', 'a tool of the agent’s own', () => {
  test('asks the owner in the middle of its turn, and goes on with their word', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      files: { 'container/agent/tools/asker.ts': ASKER },
      script(request) {
        const results = lastToolResults(request);
        if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
        const long = { text: 'x'.repeat(5_000) };
        return [
          { type: 'tool_use', name: 'asker', input: { text: 'Which?' } },
          { type: 'tool_use', name: 'asker', input: long },
          { type: 'tool_use', name: 'asker', input: { text: 'Who?' } },
        ];
      },
    });
    const asked: AgentQuestion[] = [];
    const onAsk = async (question: AgentQuestion) => {
      asked.push(question);
      if (question.takesText) return { word: 'text', isAnswered: true, text: 'Eve, I think' };
      return { word: 'blue', isAnswered: true };
    };
    const answer = await project.answer('ask', { onAsk });
    expect(answer).toContain('{"word":"blue","isAnswered":true}');
    expect(answer).toContain('{"word":"text","isAnswered":true,"text":"Eve, I think"}');
    expect(answer).toContain('A question has at most 4,000 characters');
    expect(asked).toEqual([
      {
        text: 'Which?',
        choices: [
          { word: 'red', label: 'red' },
          { word: 'blue', label: 'blue' },
        ],
        payload: { wall: 1 },
      },
      { text: 'Who?', choices: [], takesText: true },
    ]);
    // Where nobody can be asked, it is a no.
    expect(await project.answer('ask')).toContain('{"word":"no","isAnswered":false}');
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

function turnWith(onAsk: TurnEvents['onAsk'], mayCall: boolean) {
  const sent: HostFrame[] = [];
  const turn = new AgentTurn({
    request: REQUEST,
    events: { onTool: async () => ({ ok: true, value: null }), onAsk },
    toolNames: new Set(),
    callLimit: { take: () => mayCall },
    send: (frame) => sent.push(frame) > 0,
  });
  const ask = (id: string) =>
    turn.accept({ type: 'permission', id, turn: 't1', text: 'Now?', choices: [] });
  return { sent, ask };
}

test('questions count as calls: too many are not put to anybody, and a flood ends the agent', () => {
  const onAsk = vi.fn(async () => ({ word: 'yes', isAnswered: true }));
  const { sent, ask } = turnWith(onAsk, false);
  expect(ask('1')).toBeNull();
  expect(sent).toEqual([{ type: 'decision', id: '1', word: 'no', isAnswered: false }]);
  const outcomes = Array.from({ length: 1_000 }, () => ask('2'));
  expect(outcomes.at(-1)).toBe('a flood of questions');
  expect(onAsk).not.toHaveBeenCalled();
});

test('a question that cannot be put is a no', async () => {
  const { sent, ask } = turnWith(() => {
    throw new Error('too long');
  }, true);
  ask('1');
  await vi.waitFor(() =>
    expect(sent).toEqual([{ type: 'decision', id: '1', word: 'no', isAnswered: false }]),
  );
});

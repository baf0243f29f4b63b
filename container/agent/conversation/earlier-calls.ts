import type { ModelMessage, UserModelMessage } from 'ai';
import type { TurnFrame } from '../../../src/sandbox/protocol/frames.ts';

type InterruptedTurn = Pick<TurnFrame, 'id' | 'earlier' | 'model'>;

/**
 * Returns the tool calls of an earlier, interrupted run as messages after the question, so that the model continues
 * after them instead of starting again. A model that calls no tools gets them as text in the question.
 */
export function afterEarlierCalls(frame: InterruptedTurn, asked: UserModelMessage): ModelMessage[] {
  const { earlier = [], model } = frame;
  if (earlier.length === 0) return [asked];
  if (!model.callsTools) return [withWords(asked, earlier)];
  const calls = earlier.flatMap(({ name: toolName, input, ok, result }, at): ModelMessage[] => {
    // Letters that every provider takes, and another id in each turn of the conversation.
    const toolCallId = `earlier_${frame.id.replace(/[^A-Za-z0-9]/g, '').slice(0, 16)}_${at}`;
    const about = { toolCallId, toolName };
    const output = { type: ok ? ('text' as const) : ('error-text' as const), value: result };
    return [
      { role: 'assistant', content: [{ type: 'tool-call', ...about, input }] },
      { role: 'tool', content: [{ type: 'tool-result', ...about, output }] },
    ];
  });
  return [asked, ...calls];
}

const HEAD =
  '(Your work on this was interrupted. These calls were made already; do not make them again:';

function withWords(
  { content, ...asked }: UserModelMessage,
  earlier: NonNullable<TurnFrame['earlier']>,
): UserModelMessage {
  const lines = earlier.map(
    ({ name, input, result }) => `${name} ${JSON.stringify(input)}: ${result}`,
  );
  const text = `${HEAD}\n${lines.join('\n')})`;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return { ...asked, content: [...parts, { type: 'text', text }] };
}

import { randomUUID } from 'node:crypto';

/** A piece of an answer, as a script writes it. */
export type AnthropicBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: unknown };

export type StreamEvent = { readonly type: string; readonly [key: string]: unknown };

/** Tokens that every answer reports, so that tests can count. */
export const ANSWER_USAGE = { input_tokens: 100, output_tokens: 20 } as const;

/** Returns an answer as the Messages API streams it, one object per server-sent event. */
export function messageEvents(
  model: string,
  blocks: readonly AnthropicBlock[],
  inputTokens: number = ANSWER_USAGE.input_tokens,
): readonly StreamEvent[] {
  const message = {
    ...wholeMessage(model, []),
    stop_reason: null,
    usage: { input_tokens: inputTokens, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message },
    { type: 'ping' },
    ...blocks.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason(blocks), stop_sequence: null },
      usage: { output_tokens: ANSWER_USAGE.output_tokens },
    },
    { type: 'message_stop' },
  ];
}

/** Returns the same answer as one object, for requests without `stream`. */
export function wholeMessage(
  model: string,
  blocks: readonly AnthropicBlock[],
  inputTokens: number = ANSWER_USAGE.input_tokens,
) {
  return {
    id: `msg_${shortId()}`,
    type: 'message',
    role: 'assistant',
    model,
    content: blocks.map((block) => (block.type === 'text' ? block : { ...block, id: toolId() })),
    stop_reason: stopReason(blocks),
    stop_sequence: null,
    usage: { ...ANSWER_USAGE, input_tokens: inputTokens },
  };
}

function stopReason(blocks: readonly AnthropicBlock[]): 'tool_use' | 'end_turn' {
  return blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
}

function blockEvents(block: AnthropicBlock, index: number): readonly StreamEvent[] {
  const deltas =
    block.type === 'text'
      ? pieces(block.text).map((text) => ({ type: 'text_delta', text }))
      : pieces(JSON.stringify(block.input)).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        }));
  const content_block =
    block.type === 'text'
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: toolId(), name: block.name, input: {} };
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** Splits a text into about four pieces, like tokens, but at least a few characters and at most 64 KB each. */
function pieces(text: string): readonly string[] {
  const length = Math.min(65_536, Math.max(8, Math.ceil(text.length / 4)));
  const found: string[] = [];
  for (let from = 0; from < text.length; from += length)
    found.push(text.slice(from, from + length));
  return found;
}

function toolId(): string {
  return `toolu_${shortId()}`;
}

function shortId(): string {
  return randomUUID().replaceAll('-', '').slice(0, 24);
}

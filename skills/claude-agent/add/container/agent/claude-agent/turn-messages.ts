import type { AssistantModelMessage, ModelMessage, ToolModelMessage, UserModelMessage } from 'ai';
import { z } from 'zod';
import { withoutThoughts } from '../../../src/lib/thoughts.ts';

const AnswerBlock = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.unknown().optional(),
  }),
]);
const Result = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
});
const Texts = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }));

type AnswerPart = Exclude<AssistantModelMessage['content'], string>[number];
type Step = {
  readonly answer: AnswerPart[];
  readonly results: ToolModelMessage['content'][number][];
  readonly followUps: UserModelMessage[];
};

/**
 * The messages of a turn, as the session keeps them.
 *
 * The SDK tells of an answer block by block, and of a tool's result while later blocks still come; here each
 * answer is one message again, with the results after it.
 */
export class Said {
  readonly #steps = new Map<string, Step>();

  /** @param id of the answer that the blocks are of */
  addAnswer(id: string, blocks: readonly unknown[]): void {
    const step = this.#steps.get(id) ?? { answer: [], results: [], followUps: [] };
    this.#steps.set(id, step);
    for (const block of blocks) {
      const given = AnswerBlock.safeParse(block).data;
      if (given === undefined) continue;
      step.answer.push(
        given.type === 'text'
          ? { type: 'text', text: withoutThoughts(given.text) }
          : { type: 'tool-call', toolCallId: given.id, toolName: given.name, input: given.input },
      );
    }
  }

  addResults(blocks: readonly unknown[]): void {
    for (const block of blocks) {
      const given = Result.safeParse(block).data;
      if (given !== undefined) this.#addResult(given);
    }
  }

  /** Adds a message that the next answer knows. */
  addFollowUp(message: UserModelMessage): void {
    [...this.#steps.values()].at(-1)?.followUps.push(message);
  }

  get messages(): readonly ModelMessage[] {
    return [...this.#steps.values()].flatMap(messagesOf);
  }

  #addResult({ tool_use_id: id, content, is_error }: z.output<typeof Result>): void {
    for (const { answer, results } of this.#steps.values()) {
      const call = answer.find((part) => part.type === 'tool-call' && part.toolCallId === id);
      if (call?.type !== 'tool-call') continue;
      const output = { type: is_error ? 'error-text' : 'text', value: textOf(content) } as const;
      results.push({ type: 'tool-result', toolCallId: id, toolName: call.toolName, output });
    }
  }
}

/** A call that got no result is left out: servers refuse a conversation with one. */
function messagesOf({ answer, results, followUps }: Step): readonly ModelMessage[] {
  const ids = new Set(results.map((part) => ('toolCallId' in part ? part.toolCallId : '')));
  const content = answer.filter((part) => part.type !== 'tool-call' || ids.has(part.toolCallId));
  return [
    ...(content.length === 0 ? [] : [{ role: 'assistant' as const, content }]),
    ...(results.length === 0 ? [] : [{ role: 'tool' as const, content: results }]),
    ...followUps,
  ];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = Texts.safeParse(content).data ?? [];
  return parts.map(({ type, text }) => text ?? `[${type}]`).join('\n');
}

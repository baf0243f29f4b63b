import { randomUUID } from 'node:crypto';
import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { ThoughtFilter } from '../../../src/lib/thoughts.ts';
import type { FollowUp, FollowUps } from '../follow-ups.ts';
import type { StreamedText } from '../streamed-text.ts';
import type { Inbox } from './inbox.ts';
import type { SdkInput } from './sdk.ts';
import type { Said } from './turn-messages.ts';

const Usage = z.looseObject({
  input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
});
const StreamEvent = z.looseObject({
  type: z.string(),
  delta: z
    .looseObject({
      type: z.string().optional(),
      text: z.string().optional(),
      stop_reason: z.string().nullish(),
    })
    .optional(),
  message: z.looseObject({ usage: Usage.optional() }).optional(),
  usage: Usage.optional(),
});
/** A message of the SDK, as far as it is of use here. */
const Message = z.union([
  z.looseObject({ type: z.literal('stream_event'), event: StreamEvent }),
  z.looseObject({
    type: z.literal('assistant'),
    error: z.unknown().optional(),
    message: z.looseObject({ id: z.string(), content: z.array(z.unknown()) }),
  }),
  z.looseObject({
    type: z.literal('user'),
    uuid: z.string().optional(),
    isReplay: z.boolean().optional(),
    message: z.looseObject({ content: z.union([z.string(), z.array(z.unknown())]) }),
  }),
  z.looseObject({
    type: z.literal('result'),
    subtype: z.string(),
    is_error: z.boolean().optional(),
    result: z.string().optional(),
  }),
]);

export type FollowingParts = {
  readonly inbox: Inbox<SdkInput>;
  readonly said: Said;
  readonly text: StreamedText;
  readonly followUps: FollowUps;
  readonly inputOf: (message: ModelMessage) => SdkInput;
  readonly tookIn: (id: string) => void;
};

export type Followed = {
  /** True where the rounds of tool calls were over before the answer was. */
  readonly isCutShort: boolean;
  /** The length of the conversation, as the model counted last; null when unknown. */
  readonly tokens: number | null;
  /** Why the last answer ended, as the server said it. */
  readonly stopReason: string | null;
};

/** Reads what the SDK tells of a turn to its end. @throws Error with the SDK's words where it fails */
export async function followMessages(
  messages: AsyncIterable<unknown>,
  { inbox, said, text, followUps, inputOf, tookIn }: FollowingParts,
): Promise<Followed> {
  const pending = new Map<string, FollowUp>();
  followUps.takenBy((followUp) => {
    const uuid = randomUUID();
    pending.set(uuid, followUp);
    inbox.push({ ...inputOf(followUp.message), uuid, priority: 'next' });
  });
  let isCutShort = false;
  let tokens: number | null = null;
  let stopReason: string | null = null;
  let thoughts = new ThoughtFilter();

  function takeIn(uuid: string): void {
    const followUp = pending.get(uuid);
    if (followUp === undefined) return;
    pending.delete(uuid);
    said.addFollowUp(followUp.message);
    tookIn(followUp.id);
  }

  for await (const given of messages) {
    const message = Message.safeParse(given).data;
    if (message === undefined) continue;
    if (message.type === 'stream_event') {
      const { event } = message;
      if (event.delta?.type === 'text_delta') {
        const isKnown = thoughts.beganInThought;
        const said = thoughts.push(event.delta.text ?? '');
        if (thoughts.beganInThought && !isKnown) text.forgetStep();
        text.add(said);
      } else if (event.type === 'content_block_stop') {
        text.add(thoughts.end());
        thoughts = new ThoughtFilter();
      } else if (event.type === 'message_stop') text.endStep();
      stopReason = event.delta?.stop_reason ?? stopReason;
      const usage = event.message?.usage ?? event.usage;
      if (event.message?.usage !== undefined) tokens = inputTokens(event.message.usage);
      if (event.type === 'message_delta') tokens = (tokens ?? 0) + (usage?.output_tokens ?? 0);
    } else if (message.type === 'assistant') {
      // Words of the SDK about an error are none of the model's.
      if (message.error == null) said.addAnswer(message.message.id, message.message.content);
    } else if (message.type === 'user') {
      if (message.isReplay) takeIn(message.uuid ?? '');
      else if (typeof message.message.content !== 'string')
        said.addResults(message.message.content);
    } else {
      isCutShort = message.subtype === 'error_max_turns';
      if (message.is_error && !isCutShort) throw new Error(message.result ?? message.subtype);
      // What came too late for a step is answered in a step of its own.
      if (isCutShort || pending.size === 0) inbox.close();
      // The SDK's program takes it for a failure, and would end with one.
      if (isCutShort) break;
    }
  }
  return { isCutShort, tokens, stopReason };
}

function inputTokens(usage: z.output<typeof Usage>): number {
  return (
    (usage.input_tokens ?? 0) +
    (usage.cache_creation_input_tokens ?? 0) +
    (usage.cache_read_input_tokens ?? 0)
  );
}

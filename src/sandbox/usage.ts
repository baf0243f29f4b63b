import { z } from 'zod';
import type { Usage } from './sandbox.ts';

const Count = z.number().int().nonnegative();

/** The fields of both providers: Anthropic's input_/output_tokens, OpenAI's prompt_/completion_tokens. */
const Counts = z.object({
  input_tokens: Count.nullish(),
  output_tokens: Count.nullish(),
  cache_creation_input_tokens: Count.nullish(),
  cache_read_input_tokens: Count.nullish(),
  prompt_tokens: Count.nullish(),
  completion_tokens: Count.nullish(),
});
const Carrier = z.object({
  usage: Counts.nullish(),
  message: z.object({ usage: Counts.nullish() }).nullish(),
});

const MAX_PENDING = 8_388_608;

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

export type UsageCounter = {
  write(chunk: Buffer): void;
  /** What the answer cost as far as it was read. */
  total(): Usage;
};

/**
 * Reads the token counts out of a model's answer while it passes by.
 *
 * Counts within one answer are running totals (Anthropic repeats them in `message_delta`), so the
 * largest of each counts. What is longer than any real line or answer is passed over, never kept.
 *
 * @param isStream server-sent events; otherwise one JSON object
 */
export function countUsage(isStream: boolean): UsageCounter {
  let seen = NO_USAGE;
  let pending = '';
  const read = (json: string) => {
    seen = larger(seen, usageIn(json));
  };
  return {
    write(chunk) {
      pending += chunk.toString('latin1');
      if (isStream) {
        const lines = pending.split('\n');
        pending = lines.pop() ?? '';
        for (const line of lines) if (line.startsWith('data:')) read(line.slice(5));
      }
      if (pending.length > MAX_PENDING) pending = '';
    },
    total() {
      if (!isStream) read(pending);
      return seen;
    },
  };
}

function usageIn(json: string): Usage {
  if (!json.includes('_tokens"')) return NO_USAGE;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // A cut or foreign line carries no counts; the agent reads the same bytes and will complain.
    return NO_USAGE;
  }
  const carrier = Carrier.safeParse(value);
  const counts = carrier.data?.usage ?? carrier.data?.message?.usage;
  if (!counts) return NO_USAGE;
  return {
    inputTokens:
      (counts.input_tokens ?? counts.prompt_tokens ?? 0) +
      (counts.cache_creation_input_tokens ?? 0) +
      (counts.cache_read_input_tokens ?? 0),
    outputTokens: counts.output_tokens ?? counts.completion_tokens ?? 0,
  };
}

function larger(one: Usage, other: Usage): Usage {
  return {
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
  };
}

import { z } from 'zod';
import type { Price } from '../../config.ts';
import { list } from '../../lib/bounded-schema.ts';

/** A model as its server lists it; null for what the list does not tell. */
export type ListedModel = {
  /** As its server knows it. */
  readonly name: string;
  readonly contextTokens: number | null;
  /** The longest answer. */
  readonly answerTokens?: number | null;
  readonly price: Price | null;
};

/** Reads a server's list of models; null if the body is not a list. */
export type ReadModels = (body: unknown) => readonly ListedModel[] | null;

/** More than any server has; the rest is left out. */
const MOST = 5_000;
/** A list of more is none. */
const MOST_LISTED = 20_000;
const LONGEST_NAME = 200;

/** No window is so small that an agent's prompt has no place in it: such a number is a mistake. */
const Tokens = z.number().int().min(1_000).max(1_000_000_000).nullish().catch(null);

/** Names of the window in the lists of the usual servers. */
const Entry = z.looseObject({
  id: z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    // It is shown in a line, as code.
    .regex(/^[^\s\p{C}`]+$/u),
  context_length: Tokens,
  context_window: Tokens,
  max_context_length: Tokens,
  max_model_len: Tokens,
  max_input_tokens: Tokens,
  max_output_tokens: Tokens,
  max_completion_tokens: Tokens,
  max_tokens: Tokens,
});
const List = z.union([
  list(z.unknown(), MOST_LISTED),
  z.object({ data: list(z.unknown(), MOST_LISTED) }).transform(({ data }) => data),
]);

/** An entry of a list as its server wrote it. */
export type ListEntry = z.output<typeof Entry>;

/** Models that take no conversation, by their names. */
const OTHERS =
  /embed|whisper|tts|dall-e|moderation|transcribe|realtime|(^|[/-])audio|gpt-image|sora|rerank|imagen|veo-|flux|stable-diffusion|speech|-ocr/i;

/**
 * Creates the reader of lists as OpenAI's `GET /models` gives them, `{ data: [{ id }] }` or the bare list.
 * Entries that cannot be read are left out, and so are models that take no conversation.
 *
 * @param priceOf reads the price in an entry
 * @param nameOf returns the name by which the model is asked; null leaves it out
 */
export function createListReader({
  priceOf = () => null,
  nameOf = ({ id }) => id,
}: {
  readonly priceOf?: (entry: ListEntry) => Price | null;
  readonly nameOf?: (entry: ListEntry) => string | null;
} = {}): ReadModels {
  return (body) => {
    const list = List.safeParse(body).data;
    if (list === undefined) return null;
    const found = new Map<string, ListedModel>();
    for (const each of list.slice(0, MOST)) {
      const entry = Entry.safeParse(each).data;
      const name = entry === undefined ? null : nameOf(entry);
      if (entry === undefined || !name || OTHERS.test(name)) continue;
      found.set(name, {
        name,
        contextTokens: windowIn(entry),
        answerTokens: answerTokensIn(entry),
        price: priceOf(entry),
      });
    }
    return [...found.values()];
  };
}

function answerTokensIn(entry: ListEntry): number | null {
  return entry.max_output_tokens ?? entry.max_completion_tokens ?? entry.max_tokens ?? null;
}

function windowIn(entry: ListEntry): number | null {
  return (
    entry.context_length ??
    entry.context_window ??
    entry.max_context_length ??
    entry.max_model_len ??
    entry.max_input_tokens ??
    null
  );
}

import type { AnthropicBody } from './anthropic-request.ts';

/** Tokens of one request, as the Messages API counts them. */
export type CachedCounts = {
  readonly read: number;
  readonly written: number;
  readonly plain: number;
};

const TTL_MS = 300_000;
const MIN_TOKENS = 1_024;
const LOOK_BACK = 20;

/**
 * Counts what a request reads from the cache and writes into it, as the Messages API does: tools, system and messages
 * in this order, looked up at each mark and at most 20 blocks in front of it, kept for five minutes since its last use.
 */
export class PromptCache {
  readonly #now: () => number;
  readonly #kept = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  count(body: AnthropicBody): CachedCounts {
    const now = this.#now();
    const ends: { readonly key: string; readonly tokens: number; readonly isMarked: boolean }[] =
      [];
    let key = body.model;
    let tokens = 0;
    for (const { isMarked, text } of blocksOf(body)) {
      key += `\n${text}`;
      tokens += Math.ceil(text.length / 4);
      ends.push({ key, tokens, isMarked });
    }
    const marks = ends.flatMap(({ isMarked, tokens: size }, at) =>
      isMarked && size >= MIN_TOKENS ? [at] : [],
    );
    let read = 0;
    for (const mark of marks) {
      for (let at = mark; at >= Math.max(0, mark - LOOK_BACK); at -= 1) {
        const end = ends[at];
        const usedAt = end === undefined ? undefined : this.#kept.get(end.key);
        if (end === undefined || usedAt === undefined || now - usedAt > TTL_MS) continue;
        this.#kept.set(end.key, now);
        read = Math.max(read, end.tokens);
        break;
      }
    }
    const last = ends[marks.at(-1) ?? -1]?.tokens ?? 0;
    for (const mark of marks) this.#kept.set(ends[mark]?.key ?? '', now);
    const written = Math.max(0, last - read);
    return { read, written, plain: tokens - read - written };
  }
}

function* blocksOf({ tools = [], system = [], messages }: AnthropicBody) {
  const told = typeof system === 'string' ? [{ type: 'text', text: system }] : system;
  const said = messages.flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => ({
      role,
      ...block,
    })),
  );
  for (const block of [...tools, ...told, ...said] as Readonly<Record<string, unknown>>[]) {
    const { cache_control: mark, ...plain } = block;
    yield { isMarked: mark !== undefined, text: JSON.stringify(plain) };
  }
}

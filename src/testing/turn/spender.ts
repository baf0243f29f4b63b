import type { TokenCounts } from '../../model/tokens.ts';
import { type AgentScript, answers } from '../assistant.ts';

/** A million tokens read cost a dollar and written ones nothing, where this is the price. */
export const DOLLAR_A_MILLION = { MODEL_PRICE: '1/0' };

/** So many cents, at that price. */
export function cents(amount: number): TokenCounts {
  return {
    inputTokens: amount * 10_000,
    cacheWriteTokens: 0,
    cacheReadTokens: 0,
    outputTokens: 0,
  };
}

/** Creates an agent that spends as many cents as the last `spend <n>` says, in one call, and then answers. */
export function spender() {
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt, models: [model] }, { onModelCall }) => {
    prompts.push(prompt);
    const amount = Number([...prompt.matchAll(/spend (\d+)/g)].at(-1)?.[1] ?? 0);
    const admission = await onModelCall?.(
      { model, atMost: cents(amount) },
      new AbortController().signal,
    );
    if (admission?.kind !== 'admitted') {
      return { kind: 'failed', code: 'BUDGET', message: admission?.message ?? 'not asked' };
    }
    admission.charge(cents(amount));
    return answers('pong');
  };
  return { agent, prompts };
}

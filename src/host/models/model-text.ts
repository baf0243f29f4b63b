import type { Price } from '../../config.ts';
import type { ChatModel, ModelNumbers } from './chat-models.ts';

/** Returns price and window of a model as part of a line: `$3 read, $15 written; 200,000 tokens`. */
export function numbersText(numbers: ModelNumbers | null): string {
  if (numbers === null) return 'no provider here has it';
  const { price, contextTokens } = numbers;
  const cost = price === null ? 'price not known' : priceText(price);
  return `${cost}; ${contextTokens.toLocaleString('en')} tokens of context`;
}

/** Returns a price for a million tokens: `$3 read, $15 written`. */
export function priceText({ input, output }: Price): string {
  if (input === 0 && output === 0) return 'costs nothing';
  return `${dollars(input)} read, ${dollars(output)} written`;
}

/** Says who has named the model of a chat. */
export function originText({ from }: ChatModel): string {
  return {
    chat: 'chosen for this chat',
    all: 'chosen for all chats',
    settings: 'from the settings',
  }[from];
}

/** Money for a million tokens: `$3`, `$0.0375`. */
function dollars(microUsd: number): string {
  const digits = microUsd % 1_000_000 === 0 ? 0 : microUsd % 10_000 === 0 ? 2 : 4;
  return `$${(microUsd / 1_000_000).toFixed(digits)}`;
}

import type { Store } from '../store/store.ts';
import type { PromptParts } from './prompt.ts';

/** How many messages of a chat the agent is shown at most. */
const SHOWN_MESSAGES = 50;

type Range = Parameters<Store['messages']['countBetween']>[0];

/** What was said between two cursors, as a prompt shows it. */
export function saidBetween(store: Store, range: Range, timeZone: string): PromptParts {
  const messages = store.messages.between(range, SHOWN_MESSAGES);
  const leftOut = store.messages.countBetween(range) - messages.length;
  return { messages, leftOut, timeZone };
}

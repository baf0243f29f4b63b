import type { Store } from '../../../store/store.ts';
import type { PromptParts } from './prompt.ts';

type Range = Parameters<Store['messages']['countBetween']>[0];

/** Returns the messages between two cursors, as a prompt shows them. */
export function turnMessages(store: Store, range: Range, timeZone: string): PromptParts {
  const messages = store.messages.between(range, store.messagesShown);
  const leftOut = store.messages.countBetween(range) - messages.length;
  return { messages, leftOut, timeZone };
}

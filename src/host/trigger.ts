import type { InboundMessage } from '../channels/channel.ts';
import type { Group } from '../store/store.ts';

/**
 * Whether a message asks for an answer: always where the group needs no trigger, else when it begins
 * with `@<name>`, in any case, or mentions the assistant by the channel's own means.
 */
export function isTriggered(
  message: Pick<InboundMessage, 'text' | 'mentionsAssistant'>,
  group: Pick<Group, 'needsTrigger' | 'triggerWord'>,
  assistantName: string,
): boolean {
  if (message.text.trim() === '') return false;
  if (!group.needsTrigger || message.mentionsAssistant) return true;
  const word = (group.triggerWord ?? `@${assistantName}`).toLowerCase();
  const text = message.text.trimStart().toLowerCase();
  return text.startsWith(word) && !/^[\p{L}\p{N}_]/u.test(text.slice(word.length));
}

import { z } from 'zod';
import type { InboundMessage } from '../../channels/channel.ts';
import type { Group } from '../../store/store.ts';

/**
 * Tells whether a message asks for an answer. It always does if the group needs no trigger. Otherwise it must begin
 * with the group's word (`@<name>` by default, in any case) or mention the assistant by the channel's own means. A
 * word ends where no letter or digit follows: `@Andyx` is another name.
 */
export function isTriggered(
  message: Pick<InboundMessage, 'text' | 'mentionsAssistant' | 'isContext'>,
  group: Pick<Group, 'needsTrigger' | 'triggerWord'>,
  assistantName: string,
): boolean {
  if (message.isContext === true || message.text.trim() === '') return false;
  if (!group.needsTrigger || message.mentionsAssistant) return true;
  const word = folded(group.triggerWord ?? `@${assistantName}`).trim();
  const text = beginning(folded(beginning(message.text).slice(0, LONGEST_BEGINNING)));
  if (word === '' || !text.startsWith(word)) return false;
  return !/[\p{L}\p{N}_]$/u.test(word) || !/^[\p{L}\p{N}\p{M}_]/u.test(text.slice(word.length));
}

/**
 * The part of a message, in UTF-16 units, that its trigger is looked for in: a trigger has at most 64, each
 * of which can be written as several. The whole message is not folded: a sender who puts 100,000 marks out
 * of order into one makes that take seconds.
 */
const LONGEST_BEGINNING = 1024;

/** The text from its first visible character on: phones put invisible marks of direction around names. */
function beginning(text: string): string {
  return text.replace(/^[\s\p{Cf}]+/u, '');
}

/** Equal for texts that differ in case only, in every script: `STRASSE` and `straße`, `＠` and `@`. */
function folded(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase();
}

/** The way to call a group, as the owner sets it. */
export type Trigger = Pick<Group, 'needsTrigger' | 'triggerWord'>;

export const ALWAYS: Trigger = { needsTrigger: false, triggerWord: null };
export const BY_NAME: Trigger = { needsTrigger: true, triggerWord: null };

/** Why a text cannot be a trigger, as a sentence; null when it can. */
export function triggerProblem(word: string): string | null {
  if (word.length > 64) return 'A trigger has 64 characters at most.';
  return /[\p{Cc}\p{Cf}]/u.test(word) || !/\S/.test(word)
    ? 'A trigger is made of characters that can be seen, on one line.'
    : null;
}

/** Returns the condition for an answer, as part of a sentence. */
export function describeTrigger(
  { needsTrigger, triggerWord }: Trigger,
  assistantName: string,
): string {
  return needsTrigger ? `answers to ${triggerWord ?? `@${assistantName}`}` : 'answers always';
}

/** An agent's choice of the messages that are answered. */
export const TriggerInput = z
  .string()
  .min(1)
  .describe(
    'What messages must begin with to be answered; "default" for @ and the assistant\'s name, "always" to answer every message',
  );

/** Reads what passed the schema. */
export function readTrigger(text: string): Trigger {
  const word = text.trim().toLowerCase();
  if (word === 'always') return ALWAYS;
  return word === 'default' ? BY_NAME : { needsTrigger: true, triggerWord: text.trim() };
}

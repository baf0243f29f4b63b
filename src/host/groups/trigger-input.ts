import { z } from 'zod';
import { ALWAYS, BY_NAME, type Trigger } from './trigger.ts';

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

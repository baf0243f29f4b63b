import type { Choice, OutboundChoices } from '../channel.ts';

const KEYS = ['1️⃣', '2️⃣', '3️⃣', '4️⃣', '5️⃣', '6️⃣', '7️⃣', '8️⃣', '9️⃣', '🔟'];

/** Returns the emojis of a question's options, in their order: to be pressed below the message. */
export function keysOf({ options }: Pick<OutboundChoices, 'options'>): readonly string[] {
  return KEYS.slice(0, options.length);
}

/** Reads an emoji on a question as the choice that it is; null for another emoji, or no question. */
export function choiceIn(
  asked: { readonly question: string; readonly words: readonly string[] } | null,
  key: string,
): Pick<Choice, 'question' | 'word'> | null {
  const word = asked?.words[KEYS.findIndex((one) => bare(one) === bare(key))];
  return asked === null || word === undefined ? null : { question: asked.question, word };
}

/** Apps differ on the sign for "as a picture". */
function bare(key: string): string {
  return key.replaceAll('\uFE0F', '');
}

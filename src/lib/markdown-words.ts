import { Tokenizer, type TokenizerObject } from 'marked';

/** So far is looked for the end of a run of plain text. */
const WINDOW = 256;
/** A name in front of the `@` of an address is shorter, as mail has it. */
const LONG_NAME = /^[\w.+-]{65}/;
const OTHER_ADDRESS = /^(?:https?|ftp|www|mailto|xmpp)/i;

/**
 * Lets `marked` read long words in a time that grows with their length: by itself it looks at each sign of a word whether
 * an address of mail begins there, up to the word's end, which takes the square of it.
 */
export const SHORT_WORDS: TokenizerObject = {
  inlineText(src) {
    const beginning = plainBeginning(src);
    return beginning === src ? false : Tokenizer.prototype.inlineText.call(this, beginning);
  },
  url(src) {
    return LONG_NAME.test(src) && !OTHER_ADDRESS.test(src) ? undefined : false;
  },
};

/** Returns the beginning of a text, up to a space if there is one. */
function plainBeginning(text: string): string {
  if (text.length <= WINDOW) return text;
  const space = text.lastIndexOf(' ', WINDOW);
  if (space > 0) return text.slice(0, space + 1);
  // Never within a character.
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(WINDOW - 1)) ? WINDOW - 1 : WINDOW);
}

/**
 * Characters that can make a text look like another one, by their Unicode properties (UTS 36 and UTS 39): they turn
 * text around, break lines that look whole, or show nothing. The single ones are blank signs that no property names.
 */
const MISLEADING =
  /[[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\u{2800}\u{fffc}\u{13441}\u{13442}\u{16fe4}\u{1d159}]--[ \n]]/v;

/** Whole emoji first: joiners, tags and variation selectors inside of one are part of its picture. */
const EMOJI_OR_MISLEADING = new RegExp(`\\p{RGI_Emoji}|${MISLEADING.source}`, 'gv');

/** A gap inside a line, or before one; the second leaves room for the indentation of code and JSON. */
const LONG_GAP = /(?<=[^ \n]) {9,}| {41,}/g;
const EMPTY_LINES = /\n(?: *\n){4,}/g;

/**
 * Writes a text so that nobody can misread it, for a person who decides by it: each misleading character as its escape,
 * each long run of spaces or of empty lines as its length. Emoji stay. A text that was written so is not changed again.
 */
export function visible(text: string): string {
  const shown = MISLEADING.test(text)
    ? text
        .replaceAll('\r\n', '\n')
        .replace(EMOJI_OR_MISLEADING, (found) => (isOneCharacter(found) ? escapeOf(found) : found))
    : text;
  return shown
    .replace(LONG_GAP, (gap) => `⟨${gap.length} spaces⟩`)
    .replace(EMPTY_LINES, (gap) => `\n⟨${gap.split('\n').length - 2} empty lines⟩\n`);
}

/** Tells a misleading character from an emoji, of which many are one character as well. */
function isOneCharacter(found: string): boolean {
  return MISLEADING.test(found) && [...found].length === 1;
}

/** As JSON writes it; characters beyond four digits in braces. */
export function escapeOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
}

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;
const NARROW = /\p{Mark}|\u200b|\u200d|\ufe0f/u;

/** Returns the number of columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + widthOfOne(character), 0);
}

/** Returns a text in pieces that each fit into a number of columns; one piece at least. */
export function wrapped(text: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const character of text) {
    const more = widthOfOne(character);
    if (width + more > columns && piece !== '') {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += character;
    width += more;
  }
  return [...pieces, piece];
}

/** Filled up with spaces to a number of columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

function widthOfOne(character: string): number {
  if (NARROW.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

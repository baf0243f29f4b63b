/** A character cell's size, in the units of the picture. */
const CELL = { width: 8.43, height: 19 };
const MARGIN = 18;
const TITLE_BAR = 34;

/** The colours of a dark terminal, by the number of SGR 30 to 37, and 90 to 97 for the bright ones. */
const COLOURS = [
  '#484f58',
  '#ff7b72',
  '#3fb950',
  '#d29922',
  '#58a6ff',
  '#bc8cff',
  '#39c5cf',
  '#b1bac4',
];
const BRIGHT = [
  '#6e7681',
  '#ffa198',
  '#56d364',
  '#e3b341',
  '#79c0ff',
  '#d2a8ff',
  '#56d4dd',
  '#f0f6fc',
];
const INK = '#e6edf3';
const DIM = '#8b949e';
/** What a person typed stands out from what the assistant printed. */
const TYPED = '#7ee787';

type Style = { readonly colour: string; readonly isBold: boolean; readonly isDim: boolean };
type Piece = Style & { readonly text: string; readonly column: number };

const PLAIN: Style = { colour: INK, isBold: false, isDim: false };

/**
 * Draws what a terminal shows as an SVG picture: text that can be selected and searched, no font or script from outside.
 *
 * @param lines the rows of a screen with the escape sequences for colours and weight (SGR); other ones are left out. A
 * row that begins with the prompt `> ` is drawn in a colour of its own
 * @param title is shown in the bar above, and read by screen readers
 */
export function svgOf(lines: readonly string[], title: string): string {
  const pieces = lines.map((line) =>
    isTyped(line) ? piecesOf(line).map(asTyped) : piecesOf(line),
  );
  const columns = Math.max(
    60,
    ...pieces.flatMap((row) => row.map((piece) => piece.column + piece.text.length)),
  );
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil(lines.length * CELL.height + TITLE_BAR + 2 * MARGIN);
  const rows = pieces.flatMap((row, at) => {
    const y = (TITLE_BAR + MARGIN + (at + 0.75) * CELL.height).toFixed(1);
    return row.map((piece) => textOf(piece, y));
  });
  const lamps = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `<circle cx="${20 + at * 20}" cy="17" r="6" fill="${colour}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
<rect width="${width}" height="${TITLE_BAR}" rx="10" fill="#161b22"/>
${lamps.join('\n')}
<text x="${width / 2}" y="22" text-anchor="middle" font-family="system-ui, sans-serif" font-size="13" fill="${DIM}">${escaped(title)}</text>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`;
}

/** Tells whether a row begins with the prompt, so that somebody typed it. */
function isTyped(line: string): boolean {
  return line.replace(/\x1b\[[\d;]*[A-Za-z]/g, '').startsWith('> ');
}

function asTyped(piece: Piece): Piece {
  return { ...piece, colour: TYPED, isBold: true };
}

function textOf({ text, column, colour, isBold, isDim }: Piece, y: string): string {
  const x = (MARGIN + column * CELL.width).toFixed(1);
  // The length keeps columns in line whatever font the reader has.
  const length = (text.length * CELL.width).toFixed(1);
  const weight = isBold ? ' font-weight="bold"' : '';
  return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs" fill="${isDim ? DIM : colour}"${weight}>${escaped(text)}</text>`;
}

/** Splits a row at its escape sequences, and leaves out blank pieces. */
function piecesOf(row: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let style = PLAIN;
  let column = 0;
  for (const part of row.split(/(\x1b\[[\d;]*[A-Za-z])/)) {
    const [, codes] = /^\x1b\[([\d;]*)m$/.exec(part) ?? [];
    if (codes !== undefined) style = codes.split(';').map(Number).reduce(styled, style);
    else if (!part.startsWith('\x1b')) {
      const start = part.length - part.trimStart().length;
      if (part.trim() !== '') pieces.push({ ...style, text: part.trim(), column: column + start });
      column += part.length;
    }
  }
  return pieces;
}

function styled(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  if (code >= 30 && code <= 37) return { ...style, colour: COLOURS[code - 30] ?? INK };
  if (code >= 90 && code <= 97) return { ...style, colour: BRIGHT[code - 90] ?? INK };
  return code === 39 ? { ...style, colour: INK } : style;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

import type { Notation } from '../kit/markdown.ts';
import { renderParts } from '../kit/render-parts.ts';

/** Bytes of a message that Signal's apps show without a tap on "read more". signal-cli makes a file of the rest. */
const LIMIT_BYTES = 2_000;

/** A text with its styles, each as `start:length:STYLE` in UTF-16 units: what signal-cli takes. */
export type StyledText = { readonly text: string; readonly styles: readonly string[] };

const STYLES = ['BOLD', 'ITALIC', 'STRIKETHROUGH', 'MONOSPACE'] as const;
type Style = (typeof STYLES)[number];

/*
 * While Markdown is rendered, styles are marks in the text: the nth opens with the nth pair of Unicode's
 * noncharacters, which no text has a use for, and which are taken out of what is sent.
 */
const FIRST_MARK = 0xfdd0;
const MARK = /[\ufdd0-\ufdef]/g;

const SIGNAL_NOTATION: Notation = {
  escape: withoutMarks,
  bold: (inner) => marked('BOLD', inner),
  italic: (inner) => marked('ITALIC', inner),
  struck: (inner) => marked('STRIKETHROUGH', inner),
  code: (text) => marked('MONOSPACE', withoutMarks(text)),
  codeBlock: (text) => marked('MONOSPACE', withoutMarks(text)),
  quote: (inner) => inner.replace(/^/gm, '> '),
  link: (href, label) =>
    label === '' || label === href ? withoutMarks(href) : `${label} (${withoutMarks(href)})`,
};

/** Turns Markdown of any length into messages that fit, in order. Text without words gives none. */
export function styledParts(markdown: string): readonly StyledText[] {
  const lengthOf = (text: string) => Buffer.byteLength(withoutMarks(text));
  return renderParts(markdown, SIGNAL_NOTATION, { limit: LIMIT_BYTES, lengthOf }).map(({ text }) =>
    stylesIn(text),
  );
}

function marked(style: Style, inner: string): string {
  const open = FIRST_MARK + 2 * STYLES.indexOf(style);
  return `${String.fromCharCode(open)}${inner}${String.fromCharCode(open + 1)}`;
}

function withoutMarks(text: string): string {
  return text.replace(MARK, '');
}

/** Takes the marks out of a text, and tells where they were. */
function stylesIn(rendered: string): StyledText {
  const begun = new Map<Style, number>();
  const styles: string[] = [];
  let text = '';
  for (const piece of rendered.split(/([\ufdd0-\ufdef])/)) {
    const mark = piece.charCodeAt(0) - FIRST_MARK;
    const style = piece.length === 1 && mark >= 0 ? STYLES[mark >> 1] : undefined;
    if (style === undefined) text += piece;
    else if (mark % 2 === 0) begun.set(style, begun.get(style) ?? text.length);
    else {
      const start = begun.get(style) ?? text.length;
      begun.delete(style);
      if (text.length > start) styles.push(`${start}:${text.length - start}:${style}`);
    }
  }
  return { text, styles };
}

import PostalMime from 'postal-mime';
import { type HtmlText, textOfHtml } from './html-text.ts';

/** Text of all HTML parts together that is looked at. */
const LONGEST_HTML = 200_000;

type Entry = { readonly type: string; readonly value: unknown };
type Part = { plain: string; html: string };

/**
 * Parses a mail, and makes its text by itself. The library turns HTML beside plain text into text as well, with all that is
 * hidden in it, and in a time that grows with the square of the length.
 */
export class MailParser extends PostalMime {
  readonly #parts = new Map<unknown, Part>();

  /** Called by the library for each part that is text; `node` is the same for alternatives. */
  addTextEntry(node: unknown, type: 'plain' | 'html', { value }: Entry): void {
    const part = this.#parts.get(node) ?? { plain: '', html: '' };
    this.#parts.set(node, part);
    if (typeof value === 'string') part[type] += `${part[type] === '' ? '' : '\n'}${value}`;
  }

  /** Returns the text of each part: of alternatives the plain one, unless it says nothing, as that of some clients. */
  text(): HtmlText {
    const texts: string[] = [];
    let hasHidden = false;
    let left = LONGEST_HTML;
    for (const { plain, html } of this.#parts.values()) {
      if (plain.trim() !== '' || html === '') texts.push(plain);
      else {
        const shown = textOfHtml(html.slice(0, left));
        left -= Math.min(left, html.length);
        texts.push(shown.text);
        hasHidden ||= shown.hasHidden;
      }
    }
    return { text: texts.join('\n'), hasHidden };
  }
}

import { splitMarkdown } from '../parts.ts';
import { escapeHtml, toTelegramHtml, visibleText } from './html.ts';

/** What Telegram takes in one message, counted in what is shown. */
const LIMIT = 4_096;

/** One message to Telegram: formatted, and as it was written in case the formatting is refused. */
export type Part = { readonly html: string; readonly plain: string };

/** Turns Markdown of any length into messages that fit, in order. Text without words gives none. */
export function formatParts(markdown: string, limit: number = LIMIT): readonly Part[] {
  return splitMarkdown(markdown, limit).flatMap((plain) => {
    const html = render(plain);
    const shown = visibleText(html).trim();
    if (shown === '') return [{ html: escapeHtml(plain), plain }];
    // Numbering a list anew can make it longer than it was written.
    return shown.length <= LIMIT ? [{ html, plain }] : formatParts(plain, Math.floor(limit * 0.75));
  });
}

function render(markdown: string): string {
  try {
    return toTelegramHtml(markdown);
  } catch {
    // Thousands of nested quotations exhaust the parser's stack. The text arrives, as it was written.
    return escapeHtml(markdown);
  }
}

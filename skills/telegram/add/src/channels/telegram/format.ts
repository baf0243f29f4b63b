import { type Part, renderParts } from '../kit/render-parts.ts';
import { TELEGRAM_HTML, visibleText } from './html.ts';

/** The most that Telegram takes in one message, counted in what is shown. */
const LIMIT = 4_096;

/** Turns Markdown of any length into messages that fit, in order. Text without words gives none. */
export function formatParts(markdown: string): readonly Part[] {
  const lengthOf = (html: string) => visibleText(html).trim().length;
  return renderParts(markdown, TELEGRAM_HTML, { limit: LIMIT, lengthOf });
}

import { splitMarkdown } from '../parts.ts';
import { escapeMrkdwn, toMrkdwn } from './mrkdwn.ts';

/** Slack cuts a message above 4,000 characters, markup included; some room is left. */
const LIMIT = 3_900;

/** Turns Markdown of any length into messages that fit, in order. Text without words gives none. */
export function formatParts(markdown: string, limit: number = LIMIT): readonly string[] {
  return splitMarkdown(markdown, limit).flatMap((part) => {
    const text = render(part);
    // Escaping makes a text longer than it was written.
    return text.length <= LIMIT ? [text] : formatParts(part, Math.floor(limit * 0.75));
  });
}

function render(markdown: string): string {
  try {
    const text = toMrkdwn(markdown);
    return text.trim() === '' ? escapeMrkdwn(markdown) : text;
  } catch {
    // Thousands of nested quotations exhaust the parser's stack. The text arrives, as it was written.
    return escapeMrkdwn(markdown);
  }
}

import { renderParts } from '../kit/render-parts.ts';
import { MRKDWN } from './mrkdwn.ts';

/** Slack cuts a message above 4,000 characters, markup included; some room is left. */
const LIMIT = 3_900;

/** Turns Markdown of any length into messages that fit, in order. Text without words gives none. */
export function formatParts(markdown: string): readonly string[] {
  return renderParts(markdown, MRKDWN, { limit: LIMIT }).map(({ text }) => text);
}

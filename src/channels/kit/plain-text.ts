import { WITHOUT_MARKS } from './markdown.ts';
import { type Part, renderParts } from './render-parts.ts';

/**
 * Turns Markdown of any length into plain texts that fit, in order, for a device that shows plain characters. Text
 * without words gives none.
 *
 * @public for channels of skills
 */
export function plainParts(markdown: string, limit: number): readonly Part[] {
  return renderParts(markdown, WITHOUT_MARKS, { limit });
}

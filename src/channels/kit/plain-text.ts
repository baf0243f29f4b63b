import type { Notation } from './markdown.ts';
import { type Part, renderParts } from './render-parts.ts';

/** Markdown as text without any marks, for a device that shows characters as they are. */
const PLAIN: Notation = {
  escape: (text) => text,
  bold: (inner) => inner,
  italic: (inner) => inner,
  struck: (inner) => inner,
  code: (text) => text,
  codeBlock: (text) => text,
  quote: (inner) => inner.replace(/^/gm, '> '),
  link: (href, label) => (label === '' || label === href ? href : `${label} (${href})`),
  bullet: '-',
};

/**
 * Turns Markdown of any length into plain texts that fit, in order. Text without words gives none.
 *
 * @public for channels of skills
 */
export function plainParts(markdown: string, limit: number): readonly Part[] {
  return renderParts(markdown, PLAIN, { limit });
}

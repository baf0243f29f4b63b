import { z } from 'zod';
import { unknownNote } from '../kit/notes.ts';

const DEEPEST = 10;

const BlockElement = z.looseObject({
  type: z.string().max(100),
  text: z.unknown().optional(),
  url: z.string().max(5_000).optional().catch(undefined),
  user_id: z.string().max(100).optional().catch(undefined),
  channel_id: z.string().max(100).optional().catch(undefined),
  name: z.string().max(200).optional().catch(undefined),
  range: z.string().max(100).optional().catch(undefined),
  fallback: z.string().max(1_000).optional().catch(undefined),
  alt_text: z.string().max(2_000).optional().catch(undefined),
  title: z.unknown().optional(),
  image_url: z.string().max(5_000).optional().catch(undefined),
  elements: z.array(z.unknown()).max(1_000).default([]).catch([]),
  fields: z.array(z.unknown()).max(100).default([]).catch([]),
});

type BlockElement = z.output<typeof BlockElement>;

/**
 * Writes the blocks of a message in Slack's own notation, a line for each: apps and some people's tools put the words
 * there alone.
 */
export function textOfBlocks(blocks: readonly unknown[]): string {
  return blocks
    .map((block) => notationOf(block, 0))
    .filter((line) => line !== '')
    .join('\n');
}

function notationOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return escaped(value);
  const element = BlockElement.safeParse(value).data;
  if (element === undefined || depth > DEEPEST) return '';
  const inner = (between: string) =>
    [...element.elements, ...element.fields]
      .map((one) => notationOf(one, depth + 1))
      .filter((one) => one !== '')
      .join(between);
  const own = () => notationOf(element.text, depth + 1);
  switch (element.type) {
    case 'mrkdwn':
      return typeof element.text === 'string' ? element.text : '';
    case 'text':
    case 'plain_text':
    case 'header':
      return own();
    case 'section':
      return [own(), inner('\n')].filter((one) => one !== '').join('\n');
    case 'rich_text_section':
    case 'rich_text_preformatted':
      return inner('');
    case 'rich_text_quote':
      return inner('').replace(/^/gm, '&gt; ');
    case 'rich_text_list':
      return inner('\n').replace(/^/gm, '- ');
    case 'rich_text':
    case 'context':
    case 'actions':
      return inner('\n');
    default:
      return referenceOf(element) ?? own();
  }
}

/** Writes what stands for something else: a link, a person, a picture. Null for what is none. */
function referenceOf(element: BlockElement): string | null {
  const { type, url = '', user_id: user, channel_id: channel, name, range } = element;
  switch (type) {
    case 'link':
      return typeof element.text === 'string' ? `<${url}|${escaped(element.text)}>` : `<${url}>`;
    case 'user':
      return `<@${user ?? ''}>`;
    case 'channel':
      return `<#${channel ?? ''}>`;
    case 'emoji':
      return `:${name ?? ''}:`;
    case 'broadcast':
      return `<!${range ?? ''}>`;
    case 'date':
      return escaped(element.fallback ?? '');
    case 'divider':
      return '';
    case 'image':
      return `<${element.image_url ?? ''}|${escaped(element.alt_text || 'picture')}>`;
    case 'button':
      return `[${notationOf(element.text, DEEPEST)}]`;
    default:
      return element.text === undefined ? `[${escaped(unknownNote(type))}]` : null;
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

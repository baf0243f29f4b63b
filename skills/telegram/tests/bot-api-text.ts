/** A place in a text, in UTF-16 units, as the Bot API gives it. */
export type Entity = {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
};

/** Markup that the Bot API would answer with 400 for. */
export class HtmlError extends Error {
  override readonly name = 'HtmlError';
}

const TYPES: Readonly<Record<string, string>> = {
  a: 'text_link',
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  'tg-spoiler': 'spoiler',
};

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Finds mentions and commands in what people type, as the Bot API marks them. */
export function findEntities(text: string): readonly Entity[] {
  return [...text.matchAll(/(?<![\w@/])(@\w{3,}|\/\w+(?:@\w+)?)/g)].map((match) => ({
    type: match[0].startsWith('@') ? 'mention' : 'bot_command',
    offset: match.index,
    length: match[0].length,
  }));
}

/**
 * Reads text with `parse_mode` HTML as the Bot API does.
 *
 * @throws HtmlError for a tag that is unknown, not closed, or closed by another
 */
export function parseHtml(html: string): { text: string; entities: readonly Entity[] } {
  const open: { tag: string; offset: number; attributes: string }[] = [];
  const entities: Entity[] = [];
  let text = '';
  let at = 0;
  while (at < html.length) {
    const rest = html.slice(at);
    const [tag, slash, name, attributes = ''] = /^<(\/?)([a-z-]+)([^<>]*)>/i.exec(rest) ?? [];
    const [reference, code = ''] = /^&(#\d+|lt|gt|amp|quot);/.exec(rest) ?? [];
    if (reference !== undefined) {
      text += NAMED[code] ?? String.fromCodePoint(Number(code.slice(1)));
    } else if (tag === undefined || name === undefined) {
      if (rest.startsWith('<')) throw new HtmlError(`Unclosed start tag at byte offset ${at}`);
      text += rest.charAt(0);
    } else if (slash === '') {
      if (TYPES[name] === undefined) {
        throw new HtmlError(`Unsupported start tag "${name}" at byte offset ${at}`);
      }
      open.push({ tag: name, offset: text.length, attributes });
    } else {
      const started = open.pop();
      if (started === undefined) throw new HtmlError(`Unexpected end tag at byte offset ${at}`);
      if (started.tag !== name) {
        throw new HtmlError(
          `Unmatched end tag at byte offset ${at}, expected "</${started.tag}>", found "</${name}>"`,
        );
      }
      entities.push(entityOf(started, text));
    }
    at += (reference ?? tag ?? rest.charAt(0)).length;
  }
  const unclosed = open.pop();
  if (unclosed !== undefined) {
    throw new HtmlError(`Can't find end tag corresponding to start tag "${unclosed.tag}"`);
  }
  const length = text.trimEnd().length;
  return {
    text: text.trim(),
    entities: entities
      .filter((entity) => entity.length > 0 && entity.offset < length)
      .sort((a, b) => a.offset - b.offset || b.length - a.length),
  };
}

function entityOf(
  { tag, offset, attributes }: { tag: string; offset: number; attributes: string },
  text: string,
): Entity {
  const url = /href="([^"]*)"/.exec(attributes)?.[1]?.replaceAll('&amp;', '&');
  const language = /class="language-([^"]*)"/.exec(attributes)?.[1];
  return {
    type: TYPES[tag] ?? tag,
    offset,
    length: text.length - offset,
    ...(url !== undefined && { url }),
    ...(language !== undefined && { language }),
  };
}

/** Formats that an app may show. */
export type Format = 'bold' | 'italic' | 'code' | 'code block' | 'link';

/** A message as an app shows it. */
export type Shown = {
  /** Without markup. */
  readonly text: string;
  readonly spans: readonly { readonly format: Format; readonly text: string }[];
};

/** The notation that an app reads in its messages. */
export type Notation = {
  /** The formats that it knows; of others, the words are in the text. */
  readonly formats: readonly Format[];
  readonly read: (text: string) => Shown;
};

/** A piece of markup: what it looks like, with the words as the group `words`, and the format it stands for. */
type Mark = { readonly pattern: RegExp; readonly format: Format | null };

const FENCE = /```(?:[\w+#-]*\n)?(?<words>[\s\S]*?)\n?```/;
const TICKS = /`(?<words>[^`\n]+)`/;

/** The notations that most messengers have. */
export const NOTATIONS = {
  /** Text as it is, in which Markdown is not marked up. */
  plain: { formats: [], read: (text: string) => ({ text, spans: [] }) },
  /** Markdown, as on Discord. */
  markdown: marked([
    { pattern: FENCE, format: 'code block' },
    { pattern: TICKS, format: 'code' },
    { pattern: /\[(?<words>[^\]\n]+)\]\([^)\s]+\)/, format: 'link' },
    { pattern: /\*\*(?<words>[^\n]+?)\*\*/, format: 'bold' },
    { pattern: /(?<![\w*])[*_](?<words>[^\s*_][^*_\n]*?)[*_](?![\w*])/, format: 'italic' },
    { pattern: /\\(?<words>[^A-Za-z0-9\s])/, format: null },
  ]),
  /** `*bold*` and `_italic_`, as on WhatsApp. */
  asterisks: marked([
    { pattern: FENCE, format: 'code block' },
    { pattern: TICKS, format: 'code' },
    { pattern: /(?<![\w*])\*(?<words>[^\s*][^*\n]*?)\*(?![\w*])/, format: 'bold' },
    { pattern: /(?<![\w_])_(?<words>[^\s_][^_\n]*?)_(?![\w_])/, format: 'italic' },
  ]),
  /** Slack's mrkdwn: asterisks, `<address|words>` for links, and three characters as entities. */
  mrkdwn: marked(
    [
      { pattern: FENCE, format: 'code block' },
      { pattern: TICKS, format: 'code' },
      { pattern: /<[^|>\s]+\|(?<words>[^>\n]+)>/, format: 'link' },
      { pattern: /<(?<words>https?:[^|>\s]+)>/, format: null },
      { pattern: /(?<![\w*])\*(?<words>[^\s*][^*\n]*?)\*(?![\w*])/, format: 'bold' },
      { pattern: /(?<![\w_])_(?<words>[^\s_][^_\n]*?)_(?![\w_])/, format: 'italic' },
    ],
    unescapeHtml,
  ),
  /** HTML, as on Telegram and Matrix: any tag that is not known is left out. */
  html: {
    formats: ['bold', 'italic', 'code', 'code block', 'link'],
    read: readHtml,
  },
} as const satisfies Readonly<Record<string, Notation>>;

/** Makes a notation of marks: the first that stands at a place counts, and inside of code there are none. */
function marked(marks: readonly Mark[], entities = (text: string) => text): Notation {
  const read = (source: string): Shown => {
    const spans: { format: Format; text: string }[] = [];
    const inner = (text: string): string => {
      const found = marks
        .map((mark) => ({ mark, match: mark.pattern.exec(text) }))
        .filter(({ match }) => match !== null)
        .sort((one, other) => (one.match?.index ?? 0) - (other.match?.index ?? 0))[0];
      if (found?.match == null) return entities(text);
      const { mark, match } = found;
      const words = match.groups?.['words'] ?? '';
      const isCode = mark.format === 'code' || mark.format === 'code block';
      const span = { format: mark.format, text: '' };
      const at = spans.length;
      if (mark.format !== null) spans.push(span as { format: Format; text: string });
      const shown = isCode || mark.format === null ? entities(words) : inner(words);
      if (mark.format !== null) spans[at] = { format: mark.format, text: shown };
      const before = entities(text.slice(0, match.index));
      return `${before}${shown}${inner(text.slice(match.index + match[0].length))}`;
    };
    return { text: inner(source), spans };
  };
  return { formats: marks.flatMap(({ format }) => (format === null ? [] : [format])), read };
}

const TAGS: Readonly<Record<string, Format>> = {
  a: 'link',
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  code: 'code',
  pre: 'code block',
  h1: 'bold',
  h2: 'bold',
  h3: 'bold',
};

/** Tags after which an app begins a new line. */
const LINE = /^(?:p|div|li|ul|ol|blockquote|pre|h[1-6]|table|tr)$/;

function readHtml(source: string): Shown {
  const open: { tag: string; at: number }[] = [];
  const spans: { format: Format; text: string; at: number }[] = [];
  let text = '';
  for (const piece of source.split(/(<[^<>]*>)/)) {
    const [, slash, name] = /^<(\/?)([a-z][a-z0-9-]*)\b[^<>]*>$/i.exec(piece) ?? [];
    const tag = name?.toLowerCase();
    if (tag === undefined) text += unescapeHtml(piece);
    else if (tag === 'br') text += '\n';
    else if (slash === '') open.push({ tag, at: text.length });
    else {
      const begun = open.pop();
      if (begun?.tag !== tag) throw new Error(`</${tag}> closes <${begun?.tag}> in ${source}`);
      const format = TAGS[tag];
      const isInner = format === 'code' && open.at(-1)?.tag === 'pre';
      if (format !== undefined && !isInner) {
        spans.push({ format, text: text.slice(begun.at).replace(/\n$/, ''), at: begun.at });
      }
      if (LINE.test(tag) && !text.endsWith('\n')) text += '\n';
    }
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.tag}> is never closed in ${source}`);
  return { text: text.trim(), spans: spans.sort((one, other) => one.at - other.at) };
}

function unescapeHtml(text: string): string {
  return text.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|(lt|gt|amp|quot|apos|nbsp));/gi,
    (_, dec, hex, name) =>
      name === undefined
        ? String.fromCodePoint(dec === undefined ? Number.parseInt(hex, 16) : Number(dec))
        : ({ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' }[String(name)] ?? ''),
  );
}

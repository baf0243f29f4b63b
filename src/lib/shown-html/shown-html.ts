import { type Colours, coloursOf, isSeen, PAPER, type ReadColours } from './colours.ts';
import { createSheetStyle, type SheetStyle, sheetsIn } from './style-sheets.ts';
import { isGone, isSmall, letter, styleIn } from './styles.ts';

const LONGEST_TAG = 10_000;
const WITHOUT_END = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const BLOCK =
  /^(address|article|blockquote|center|div|dl|fieldset|form|h[1-6]|hr|ol|p|pre|section|table|ul)$/;
const SIBLINGS = /^(li|td|th|tr|option|p)$/;

/** Class names of the common style sheets for text that is not on the screen. */
const SPOKEN_ALONE =
  /(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-(?:text|only)|d-none)(?:$|\s)/i;

/** HTML without the text that its readers do not see, and whether there was any. */
export type ShownHtml = { readonly html: string; readonly hasHidden: boolean };

/** An element that is open: whether its own text is shown, and whether that of what is in it can be. */
type OpenElement = {
  readonly name: string;
  readonly isGone: boolean;
  readonly isSmall: boolean;
  readonly isInvisible: boolean;
  readonly colours: Colours;
};

const OUTSIDE: OpenElement = {
  name: '',
  isGone: false,
  isSmall: false,
  isInvisible: false,
  colours: PAPER,
};

/**
 * Takes out text that HTML hides from people, as a program that reads it would take it for the words that they see:
 * mails and web pages are read through it. It knows styles and colours at the element, simple rules of the style sheets
 * in the text, the attributes `hidden` and `aria-hidden`, templates, comments and the usual class names for text that
 * only a screen reader speaks. Style sheets elsewhere are not loaded. Its time is linear in the length.
 */
export function withoutHidden(html: string): ShownHtml {
  const sheets = sheetsIn(html);
  const readColours = coloursOf(sheets.join('\n'));
  const sheetStyle = createSheetStyle(sheets, readColours);
  const open: OpenElement[] = [];
  const counts = new Map<string, number>();
  const kept: string[] = [];
  let hasHidden = false;
  const close = (): void => {
    const last = open.pop();
    if (last !== undefined) counts.set(last.name, (counts.get(last.name) ?? 1) - 1);
  };
  for (const { text, tag } of pieces(html)) {
    const top = open.at(-1) ?? OUTSIDE;
    if (!top.isGone && !top.isSmall && !top.isInvisible && isSeen(top.colours)) kept.push(text);
    else hasHidden ||= /[\p{L}\p{N}]/u.test(text);
    if (tag === null) continue;
    const { name, isEnd, source } = tag;
    if (isEnd) {
      while ((counts.get(name) ?? 0) > 0) {
        const isIt = open.at(-1)?.name === name;
        close();
        if (isIt) break;
      }
    } else if (closesBefore(name, top.name)) close();
    const parent = open.at(-1) ?? OUTSIDE;
    if (isEnd || WITHOUT_END.test(name)) {
      if (!parent.isGone) kept.push(source);
      continue;
    }
    const element = opened(name, source, { parent, sheetStyle, readColours });
    open.push(element);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (!element.isGone) kept.push(source);
  }
  return { html: kept.join(''), hasHidden };
}

/** Tells whether a tag ends the element that is open without saying so. */
function closesBefore(name: string, open: string): boolean {
  return (open === 'p' && BLOCK.test(name)) || (open === name && SIBLINGS.test(name));
}

type Tag = { readonly name: string; readonly isEnd: boolean; readonly source: string };
type Piece = { readonly text: string; readonly tag: Tag | null };

function* pieces(html: string): Generator<Piece> {
  const begins = /<(?:!--|(\/?)([a-z][^\s/>]{0,40}))/gi;
  const endless = new Set<string>();
  let at = 0;
  for (let begin = begins.exec(html); begin !== null; begin = begins.exec(html)) {
    if (begin[2] === undefined) {
      yield { text: html.slice(at, begin.index), tag: null };
      at = endOfComment(html, begins.lastIndex);
      begins.lastIndex = at;
      continue;
    }
    const end = endOfTag(html, begins.lastIndex, endless);
    const tag = {
      name: begin[2].toLowerCase(),
      isEnd: begin[1] === '/',
      source: html.slice(begin.index, end),
    };
    yield { text: html.slice(at, begin.index), tag };
    at = end;
    begins.lastIndex = end;
  }
  yield { text: html.slice(at), tag: null };
}

/** Returns the place after a comment; one without an end goes on to the end of the text. */
function endOfComment(html: string, from: number): number {
  const short = /^-?>/.exec(html.slice(from, from + 2));
  if (short !== null) return from + short[0].length;
  const ends = /--!?>/g;
  ends.lastIndex = from;
  return ends.test(html) ? ends.lastIndex : html.length;
}

/** Returns the place after the `>` of a tag; one in quotes is none. @param endless quotes that have no end from here */
function endOfTag(html: string, from: number, endless: Set<string>): number {
  const marks = /["'>]/g;
  marks.lastIndex = from;
  for (let mark = marks.exec(html); mark !== null; mark = marks.exec(html)) {
    const [sign] = mark;
    if (sign === '>') return marks.lastIndex;
    if (endless.has(sign)) continue;
    const end = html.indexOf(sign, marks.lastIndex);
    if (end === -1) endless.add(sign);
    else marks.lastIndex = end + 1;
  }
  return html.length;
}

function opened(
  name: string,
  source: string,
  {
    parent,
    sheetStyle,
    readColours,
  }: {
    readonly parent: OpenElement;
    readonly sheetStyle: SheetStyle;
    readonly readColours: ReadColours;
  },
): OpenElement {
  const attributes = attributesOf(source.slice(name.length + 1, LONGEST_TAG));
  const [id = '', classes = ''] = [attributes.get('id'), attributes.get('class')];
  // What stands at the element goes before a style sheet.
  const style = new Map([
    ...sheetStyle(name, id, classes),
    ...styleIn(attributes.get('style') ?? ''),
  ]);
  if (attributes.has('hidden') && !style.has('display')) style.set('display', 'none');
  const isUnseen =
    name === 'template' ||
    attributes.get('aria-hidden')?.trim().toLowerCase() === 'true' ||
    SPOKEN_ALONE.test(classes);
  const visibility = style.get('visibility');
  return {
    name,
    isGone: parent.isGone || isUnseen || isGone(style),
    isSmall: isSmall(style) ?? parent.isSmall,
    isInvisible:
      visibility === undefined ? parent.isInvisible : /^(hidden|collapse)/.test(visibility),
    colours: readColours(parent.colours, attributes, style),
  };
}

function attributesOf(source: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const each = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
  for (const [, name = '', double, single, bare] of source.matchAll(each)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, decoded(double ?? single ?? bare ?? ''));
  }
  return found;
}

function decoded(value: string): string {
  return value
    .replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));?/gi, (_, hex, decimal) =>
      letter(hex ? Number.parseInt(hex, 16) : Number(decimal)),
    )
    .replace(
      /&(colon|semi|nbsp|quot|amp);/gi,
      (_, name: string) => NAMED[name.toLowerCase()] ?? '',
    );
}

const NAMED: Readonly<Record<string, string>> = {
  colon: ':',
  semi: ';',
  nbsp: ' ',
  quot: '"',
  amp: '&',
};

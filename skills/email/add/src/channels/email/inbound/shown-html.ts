import { type Colours, coloursOf, isSeen, PAPER, type ReadColours } from './colours.ts';

const MOST_RULES = 200;
const LONGEST_TAG = 10_000;
const WITHOUT_END = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const BLOCK =
  /^(address|article|blockquote|center|div|dl|fieldset|form|h[1-6]|hr|ol|p|pre|section|table|ul)$/;
const SIBLINGS = /^(li|td|th|tr|option|p)$/;

/** HTML without the text that a mail program does not show, and whether there was any. */
export type ShownHtml = { readonly html: string; readonly hasHidden: boolean };

/** An element that is open: whether its own text is shown, and whether that of what is in it can be. */
type Open = {
  readonly name: string;
  readonly isGone: boolean;
  readonly isSmall: boolean;
  readonly isInvisible: boolean;
  readonly colours: Colours;
};

const OUTSIDE: Open = {
  name: '',
  isGone: false,
  isSmall: false,
  isInvisible: false,
  colours: PAPER,
};

/**
 * Takes out text that the sender's HTML hides from people, as a program that reads it would take it for their words. It
 * knows styles and colours at the element, simple rules of style sheets and the attribute `hidden`. Its time is linear in
 * the length.
 */
export function withoutHidden(html: string): ShownHtml {
  const sheets = sheetsIn(html);
  const rules = hidingRules(sheets);
  const readColours = coloursOf(sheets.join('\n'));
  const open: Open[] = [];
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
    const element = opened(name, source, { parent, rules, readColours });
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
  const begins = /<(\/?)([a-z][^\s/>]{0,40})/gi;
  const endless = new Set<string>();
  let at = 0;
  for (let begin = begins.exec(html); begin !== null; begin = begins.exec(html)) {
    const end = endOfTag(html, begins.lastIndex, endless);
    const tag = {
      name: (begin[2] ?? '').toLowerCase(),
      isEnd: begin[1] === '/',
      source: html.slice(begin.index, end),
    };
    yield { text: html.slice(at, begin.index), tag };
    at = end;
    begins.lastIndex = end;
  }
  yield { text: html.slice(at), tag: null };
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

type Rule = {
  readonly tag: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly style: Style;
};
type Style = ReadonlyMap<string, string>;

function opened(
  name: string,
  source: string,
  {
    parent,
    rules,
    readColours,
  }: {
    readonly parent: Open;
    readonly rules: readonly Rule[];
    readonly readColours: ReadColours;
  },
): Open {
  const attributes = attributesOf(source.slice(name.length + 1, LONGEST_TAG));
  const classes = new Set((attributes.get('class') ?? '').split(/\s+/));
  const matched = rules.filter(
    ({ tag, id, classes: needed }) =>
      (tag === '' || tag === name) &&
      (id === '' || id === attributes.get('id')) &&
      needed.every((one) => classes.has(one)),
  );
  // What stands at the element goes before a style sheet.
  const style = new Map(matched.flatMap(({ style }) => [...style]));
  for (const [property, value] of styleIn(attributes.get('style') ?? ''))
    style.set(property, value);
  if (attributes.has('hidden') && !style.has('display')) style.set('display', 'none');
  const visibility = style.get('visibility');
  return {
    name,
    isGone: parent.isGone || isGone(style),
    isSmall: isSmall(style) ?? parent.isSmall,
    isInvisible:
      visibility === undefined ? parent.isInvisible : /^(hidden|collapse)/.test(visibility),
    colours: readColours(parent.colours, attributes, style),
  };
}

const FAR_OUT = /^-\d{3,}/;
const NOTHING = /^0*\.?0*(?:px|pt|em|%)?$/;

function isGone(style: Style): boolean {
  const is = (property: string, value: RegExp) => value.test(style.get(property) ?? 'x');
  const isFolded = is('max-height', NOTHING) || is('height', NOTHING) || is('max-width', NOTHING);
  return (
    is('display', /^none/) ||
    is('mso-hide', /^all/) ||
    is('opacity', /^0*\.?0*%?$/) ||
    (isFolded && is('overflow', /^hidden/)) ||
    ['left', 'top', 'text-indent', 'margin-left'].some((property) => is(property, FAR_OUT))
  );
}

/** Tells whether letters are too small to be seen; null where the style says nothing of it. */
function isSmall(style: Style): boolean | null {
  const size = /(?:^|\s)(\d*\.?\d+)(px|pt|em|rem|%|)(?=$|[\s/])/.exec(
    style.get('font-size') ?? style.get('font') ?? '',
  );
  if (size === null)
    return /^(?:[a-z-]*small|medium|[a-z-]*large)$/.test(style.get('font-size') ?? '')
      ? false
      : null;
  const [, digits = '', unit = ''] = size;
  const isTiny = Number(digits) === 0 || (/^(px|pt)$/.test(unit) && Number(digits) <= 1);
  // A share of nothing is nothing.
  return isTiny || (unit !== 'em' && unit !== '%' ? false : null);
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

function letter(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** Reads declarations: the last of a property counts. */
function styleIn(source: string): Style {
  const plain = source
    .replace(/\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\//g, '')
    .replace(/\\([\da-f]{1,6})\s?/gi, (_, hex) => letter(Number.parseInt(hex, 16)))
    .replace(/\\/g, '')
    .toLowerCase();
  return new Map(
    plain.split(';').flatMap((declaration) => {
      const colon = declaration.indexOf(':');
      const value = declaration
        .slice(colon + 1)
        .replace(/!\s*important/, '')
        .trim();
      return colon === -1 ? [] : [[declaration.slice(0, colon).trim(), value] as const];
    }),
  );
}

/** Returns the rules of the style sheets that hold on every screen and may hide something. */
function hidingRules(sheets: readonly string[]): readonly Rule[] {
  const rules: Rule[] = [];
  for (const sheet of sheets) rules.push(...rulesIn(sheet, MOST_RULES - rules.length));
  return rules;
}

function sheetsIn(html: string): readonly string[] {
  const sheets: string[] = [];
  const begins = /<style\b[^>]{0,1000}>/gi;
  for (let begin = begins.exec(html); begin !== null; begin = begins.exec(html)) {
    const end = html.indexOf('</', begins.lastIndex);
    if (end === -1) break;
    sheets.push(html.slice(begins.lastIndex, end));
    begins.lastIndex = end;
  }
  return sheets;
}

function rulesIn(sheet: string, most: number): readonly Rule[] {
  const rules: Rule[] = [];
  const plain = sheet.replace(/\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|<!--|-->/g, '');
  let depth = 0;
  let selectors = '';
  for (const [, before = '', brace] of plain.matchAll(/([^{}]*)([{}])/g)) {
    if (brace === '{') {
      if (depth === 0) selectors = before.slice(before.lastIndexOf(';') + 1).trim();
      depth += 1;
      continue;
    }
    if (depth === 1 && !selectors.startsWith('@')) {
      const style = styleIn(before);
      const isHiding =
        isGone(style) ||
        isSmall(style) === true ||
        /^(hidden|collapse)/.test(style.get('visibility') ?? '');
      if (isHiding) rules.push(...selectors.split(',').flatMap((one) => ruleOf(one, style)));
      if (rules.length >= most) return rules.slice(0, most);
    }
    depth = Math.max(0, depth - 1);
  }
  return rules;
}

/** Reads the last part of a selector; none where it is of a state such as `:hover`. */
function ruleOf(selector: string, style: Style): readonly Rule[] {
  const last =
    selector
      .trim()
      .split(/[\s>+~]+/)
      .at(-1) ?? '';
  const parts = /^([a-z][\w-]*|\*)?((?:[.#][\w-]+)*)$/i.exec(last);
  if (parts === null || last === '' || last === '*') return [];
  const [, tag = '', names = ''] = parts;
  const classes = [...names.matchAll(/\.([\w-]+)/g)].map(([, name = '']) => name);
  const id = /#([\w-]+)/.exec(names)?.[1] ?? '';
  return [{ tag: tag === '*' ? '' : tag.toLowerCase(), id, classes, style }];
}

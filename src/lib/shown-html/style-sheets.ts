import { isSeen, PAPER, type ReadColours } from './colours.ts';
import { isGone, isSmall, type Style, styleIn, withoutComments } from './styles.ts';

/** Each kind of element is held against all rules, and takes what fits: more would take long in a mail of kinds. */
const MOST_DECLARATIONS = 400;

type Rule = {
  readonly tag: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly style: Style;
};

/** Returns the style that the sheets give an element, by its name, its id and the text of its classes. */
export type SheetStyle = (name: string, id: string, classes: string) => Style;

/** Holds each kind of element against all rules once: there may be tens of thousands of one kind. */
export function createSheetStyle(sheets: readonly string[], readColours: ReadColours): SheetStyle {
  const rules = hidingRules(sheets, readColours);
  const known = new Map<string, Style>();
  return (name, id, classes) => {
    const kind = JSON.stringify([name, id, classes]);
    const found = known.get(kind);
    if (found !== undefined) return found;
    const has = new Set(classes.split(/\s+/));
    const style = new Map<string, string>();
    for (const rule of rules) {
      const isFor =
        (rule.tag === '' || rule.tag === name) &&
        (rule.id === '' || rule.id === id) &&
        rule.classes.every((one) => has.has(one));
      if (isFor) for (const [property, value] of rule.style) style.set(property, value);
    }
    known.set(kind, style);
    return style;
  };
}

/** Returns the rules of the style sheets that hold on every screen and may hide something. */
function hidingRules(sheets: readonly string[], readColours: ReadColours): readonly Rule[] {
  const rules: Rule[] = [];
  let declarations = 0;
  for (const sheet of sheets) {
    for (const rule of rulesIn(sheet, readColours)) {
      declarations += rule.style.size;
      if (declarations > MOST_DECLARATIONS) return rules;
      rules.push(rule);
    }
  }
  return rules;
}

/** Returns the texts of the style sheets in HTML. */
export function sheetsIn(html: string): readonly string[] {
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

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

function* rulesIn(sheet: string, readColours: ReadColours): Generator<Rule> {
  const plain = withoutComments(sheet).replace(/<!--|-->/g, '');
  let depth = 0;
  let selectors = '';
  for (const [, before = '', brace] of plain.matchAll(/(?<![^{}])([^{}]*)([{}])/g)) {
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
        !isSeen(readColours(PAPER, NO_ATTRIBUTES, style)) ||
        /^(hidden|collapse)/.test(style.get('visibility') ?? '');
      if (isHiding) yield* selectors.split(',').flatMap((one) => ruleOf(one, style));
    }
    depth = Math.max(0, depth - 1);
  }
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

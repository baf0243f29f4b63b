/** Declarations of an element or of a rule, by property: those that can hide text. */
export type Style = ReadonlyMap<string, string>;

const FAR_OUT = /^-(?:\d{3,}|\d{2,}(?:\.\d+)?(?:em|rem|vw|vh|vmax|ch))|^\d{4,}(?:\.\d+)?px/;
const ONE_PIXEL = /^1px$/;
const NOTHING = /^0*(?:\.0*)?(?:px|pt|em|%)?$/;

/** Tells whether a style takes an element off the page, with all that is in it. */
export function isGone(style: Style): boolean {
  const is = (property: string, value: RegExp) => value.test(style.get(property) ?? 'x');
  const isFolded = ['max-height', 'height', 'max-width', 'width'].some(
    (property) => is(property, NOTHING) || is(property, ONE_PIXEL),
  );
  return (
    is('display', /^none/) ||
    is('mso-hide', /^all/) ||
    is('opacity', /^0*(?:\.0*)?%?$/) ||
    is('content-visibility', /^hidden/) ||
    is('filter', /opacity\(\s*0*(?:\.0*)?%?\s*\)/) ||
    is(
      'clip',
      /^rect\(\s*[01]?(?:px)?[\s,]+[01]?(?:px)?[\s,]+[01]?(?:px)?[\s,]+[01]?(?:px)?\s*\)/,
    ) ||
    is(
      'clip-path',
      /^(?:inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0(?:px)?\s+0(?:px)?\s*\))/,
    ) ||
    is('transform', /scale[xy3d]*\(\s*0(?:\.0*)?\s*[,)]|translate[xy3d]*\([^)]{0,40}-\d{3,}/) ||
    (isFolded && is('overflow', /^(?:hidden|clip)/)) ||
    ['left', 'right', 'top', 'bottom', 'text-indent', 'margin-left', 'margin-top'].some(
      (property) => is(property, FAR_OUT),
    )
  );
}

/** Tells whether letters are too small to be seen; null if the style does not say. */
export function isSmall(style: Style): boolean | null {
  const size = /(?:^|\s)(\d+(?:\.\d+)?|\.\d+)(px|pt|em|rem|%|)(?=$|[\s/])/.exec(
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

/** The properties that can hide text, and those that say of what its letters are drawn. */
const READ =
  /^(?:background(?:-color|-image)?|bottom|clip(?:-path)?|color|content-visibility|display|filter|font(?:-size)?|(?:max-)?(?:height|width)|left|margin-(?:left|top)|mso-hide|opacity|overflow|right|text-indent|top|transform|visibility)$|background-clip|text-fill|stroke/;

/** Reads declarations: the last of a property counts. */
export function styleIn(source: string): Style {
  const plain = withoutComments(source)
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
      const [property] = READ.exec(declaration.slice(0, Math.max(0, colon)).trim()) ?? [];
      return property === undefined ? [] : [[property, value] as const];
    }),
  );
}

/** Removes the comments of a style; an unfinished comment stays. */
export function withoutComments(source: string): string {
  let kept = '';
  let at = 0;
  for (let begin = source.indexOf('/*'); begin !== -1; begin = source.indexOf('/*', at)) {
    const end = source.indexOf('*/', begin + 2);
    if (end === -1) break;
    kept += source.slice(at, begin);
    at = end + 2;
  }
  return kept + source.slice(at);
}

/** Returns the character for a number in HTML or CSS; empty if there is none. */
export function letter(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

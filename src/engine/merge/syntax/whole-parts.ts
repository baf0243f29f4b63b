import type { Range } from '../lines/regions.ts';

/** Begins of a line that goes on with what is above it. */
const GOES_ON =
  /^(?:else|catch|finally|instanceof|in|of|as|extends|implements|satisfies|while)\b|^[^\w$@}\])"'/#*[{`<]/;
/** Brackets that are entered one inside the other, at most, in one stretch of lines. */
const MAX_DEPTH = 24;

/** The part that ends at a line (a member of a list, or a statement), or that begins below it (anything, or a member). */
type Border = 'member' | 'statement' | 'block' | 'list';

/**
 * Returns parts of a stretch of lines that are whole statements or members: their brackets match, they begin
 * below the end of one and end with one. Told by line ends and brackets; where a string or a comment hides
 * such, there is no part, or one that leaves a text that does not parse.
 */
export function wholeParts(lines: readonly string[], { start, end }: Range): readonly Range[] {
  const parts: Range[] = [];
  let from = start;
  let border: Border | null = null;
  for (let depth = 0; depth < MAX_DEPTH && from < end; depth++) {
    const opened = scanParts(lines, { start: from, end }, border, parts);
    if (opened === null) break;
    border = borderAt(lines, opened);
    from = opened + 1;
  }
  return parts;
}

/** Adds the parts up to a bracket that is not closed in the stretch. Returns the line of that; null without. */
function scanParts(
  lines: readonly string[],
  { start, end }: Range,
  above: Border | null,
  parts: Range[],
): number | null {
  let border = above;
  let depth = 0;
  let part = { start, end: start };
  let opened = start;
  let inside: Inside = 'code';
  const begin = (line: number) => {
    if (part.end > part.start) parts.push(part);
    part = { start: line, end: line };
  };
  for (let line = start; line < end; line++) {
    const { net, least, inside: after } = bracketsIn((lines[line] ?? '').trim(), inside);
    inside = after;
    if (depth + least < 0) {
      begin(line + 1);
      depth = 0;
      border = inside !== 'code' ? null : borderAt(lines, line);
      if (net > least) opened = line;
      depth = net > least && !/[{([]$/.test((lines[line] ?? '').trim()) ? net - least : 0;
      continue;
    }
    if (depth === 0 && net > 0) opened = line;
    depth += net;
    if (depth > 0 || inside !== 'code') continue;
    const here = borderAt(lines, line);
    if (here === null) continue;
    if (border === null) {
      border = here;
      begin(line + 1);
    } else if (isFit(border, here)) part.end = line + 1;
  }
  begin(end);
  return depth > 0 && inside === 'code' ? opened : null;
}

function isFit(above: Border, below: Border): boolean {
  if (above === 'block') return below === 'member' || below === 'statement';
  if (above === 'list') return below === 'member';
  return above === below;
}

/** Returns what ends at a line; null where something goes on below it. */
function borderAt(lines: readonly string[], line: number): Border | null {
  const text = (lines[line] ?? '').trim();
  if (/^(?:\/\/|\*(?!\/))/.test(text)) return null;
  const next = nextText(lines, line);
  if (next !== '' && GOES_ON.test(next)) return null;
  if (/\{$/.test(text)) return 'block';
  if (/[[(]$/.test(text)) return 'list';
  if (/,$/.test(text)) return 'member';
  if (/[;}]$/.test(text) || /^import .*['"]$/.test(text)) return 'statement';
  const isSpaced = (lines[line + 1] ?? '').trim() === '';
  return isSpaced && /[\w)\]'"`]$/.test(text) ? 'statement' : null;
}

function nextText(lines: readonly string[], line: number): string {
  for (let place = line + 1; place < lines.length; place++) {
    const text = (lines[place] ?? '').trim();
    if (text !== '') return text;
  }
  return '';
}

/** The construct in which a line begins or ends. */
type Inside = 'code' | 'template' | 'comment';

/** Matches what counts, by where it is found. */
const MARKS: Readonly<Record<Inside, RegExp>> = {
  code: /\/\*|\/\/|(?<=(?:^|[(,=:[!&|?{};]|\breturn)\s*)\/(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[`{}()[\]]/g,
  template: /\\.|`/g,
  comment: /\*\//g,
};

/** Counts the brackets of a line outside templates, comments and texts in quotes. */
function bracketsIn(text: string, before: Inside) {
  let [net, least, inside] = [0, 0, before];
  let from = 0;
  for (;;) {
    const marks = MARKS[inside];
    marks.lastIndex = from;
    const mark = marks.exec(text)?.[0];
    if (mark === undefined || mark === '//') return { net, least, inside };
    from = marks.lastIndex;
    if (mark === '*/') inside = 'code';
    else if (mark === '/*') inside = 'comment';
    else if (mark === '`') inside = inside === 'template' ? 'code' : 'template';
    else if (mark === '{' || mark === '(' || mark === '[') net++;
    else if (mark === '}' || mark === ')' || mark === ']') {
      net--;
      if (net < least) least = net;
    }
  }
}

import type { Entry } from './reader.ts';

const ASIDE = /^\s*(?:#.*)?$/;
const KEY =
  /^( *)((?:"[^"]*"|'[^']*'|[^\s#&*!|>'"%@`,[\]{}?:-][^#:]*?|-[^\s#:][^#:]*?))(?<! ) *:(?:\s+(?!\s)(.*))?$/;

/** A map that is open: its indentation and its name. */
type Open = { readonly indent: number; readonly path: string };

/**
 * Reads the block maps of YAML. A key with a map below it is an entry of one line, followed by those of the
 * map; what is in a list is one entry without a key. Null where a line is neither.
 */
export function readYamlMaps(lines: readonly string[]): readonly Entry[] | null {
  const entries: Entry[] = [];
  const open: Open[] = [];
  let start = 0;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (ASIDE.test(line)) continue;
    const [, spaces = '', key, value = ''] = KEY.exec(line) ?? [];
    const indent = key === undefined ? indentOf(line) : spaces.length;
    if (indent === null) return null;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const list = `${open.at(-1)?.path ?? ''}/${indent}`;
    if (key === undefined) {
      const isWhole = /^ *- /.test(line) || /^(?:---|%)/.test(line);
      if (!isWhole) return null;
      const end = /^ *- /.test(line) ? endOfBlock(lines, index, indent) : index + 1;
      entries.push({ start, end, list, key: null });
      index = end - 1;
    } else {
      // A value on the same line goes on below it where that is indented more.
      const isMap = /^(?:#.*|[&!][^\s]+)?$/.test(value.trim());
      const end = isMap ? index + 1 : endOfBlock(lines, index, indent);
      entries.push({ start, end, list, key: key === '<<' ? null : key });
      if (isMap) open.push({ indent, path: `${list}/${key}` });
      index = end - 1;
    }
    start = index + 1;
  }
  if (start < lines.length) entries.push({ start, end: lines.length, list: '', key: null });
  return entries;
}

/** Returns the line after those that are indented more than the first one; not the blank ones at their end. */
function endOfBlock(lines: readonly string[], index: number, indent: number): number {
  let end = index + 1;
  for (let place = end; place < lines.length; place++) {
    const own = indentOf(lines[place] ?? '');
    if (lines[place]?.trim() === '') continue;
    if (own === null || own <= indent) break;
    end = place + 1;
  }
  return end;
}

/** Returns the number of spaces that a line begins with; null for a tab among them. */
function indentOf(line: string): number | null {
  const [space = ''] = /^\s*/.exec(line) ?? [];
  return space.includes('\t') ? null : space.length;
}

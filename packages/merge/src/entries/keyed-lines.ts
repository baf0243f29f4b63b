import type { Entry } from './entry.ts';

const KEY = /^\s*(?:export\s+)?([\w.-]+|"[^"]*"|'[^']*')\s*=\s*(?!\s)(.*)$/;
const SECTION = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/;
const ASIDE = /^\s*(?:[#;].*)?$/;

/** Reads lines of `KEY=value`, in sections or not, as in `.env` and TOML. */
export function readKeyedLines(lines: readonly string[]): readonly Entry[] | null {
  const entries: Entry[] = [];
  let start = 0;
  let list = '';
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (ASIDE.test(line)) continue;
    const [, section] = SECTION.exec(line) ?? [];
    const [, key, value = ''] = KEY.exec(line) ?? [];
    if (key !== undefined) {
      const end = endOfValue(lines, index, value);
      if (end === null) return null;
      entries.push({ start, end, list, key });
      index = end - 1;
    } else {
      entries.push({ start, end: index + 1, list: '', key: section ?? null });
      // Another section of the same name may come, and `[[package]]` has no name at all.
      list = section ?? line;
    }
    start = index + 1;
  }
  if (start < lines.length) entries.push({ start, end: lines.length, list, key: null });
  return entries;
}

/** Returns the line after a value that may go over several; null where it has no end. */
function endOfValue(lines: readonly string[], index: number, value: string): number | null {
  const quote = /^("""|'''|"|')/.exec(value)?.[1];
  if (quote !== undefined) {
    if (value.indexOf(quote, quote.length) >= 0) return index + 1;
    const end = lines.findIndex((line, place) => place > index && line.includes(quote));
    return end < 0 ? null : end + 1;
  }
  if (!/^[[{]/.test(value)) return index + 1;
  let depth = 0;
  for (let place = index; place < lines.length; place++) {
    const text = place === index ? value : (lines[place] ?? '');
    for (const bracket of text.replaceAll(/"[^"]*"|'[^']*'|#.*$/g, '')) {
      if (bracket === '[' || bracket === '{') depth++;
      else if (bracket === ']' || bracket === '}') depth--;
    }
    if (depth <= 0) return place + 1;
  }
  return null;
}

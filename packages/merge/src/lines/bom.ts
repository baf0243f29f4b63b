/** A leading byte order mark, in a decoded text or in bytes read as latin1; `''` for none. */
export type Bom = '' | '\uFEFF' | '\xEF\xBB\xBF';

/** Returns the byte order mark that a text begins with. */
export function bomOf(lines: readonly string[]): Bom {
  const first = lines[0] ?? '';
  if (first.startsWith('\uFEFF')) return '\uFEFF';
  return first.startsWith('\xEF\xBB\xBF') ? '\xEF\xBB\xBF' : '';
}

/** Returns the text without its byte order mark; one that held nothing else has no lines left. */
export function withoutBom(lines: readonly string[]): readonly string[] {
  const bom = bomOf(lines);
  const [first, ...rest] = bom === '' ? [] : lines;
  if (first === undefined) return lines;
  return first === bom ? rest : [first.slice(bom.length), ...rest];
}

/** Puts a byte order mark before the text; it is the only line where there are no others. */
export function withBom(lines: readonly string[], bom: Bom): readonly string[] {
  if (bom === '') return lines;
  const [first = '', ...rest] = lines;
  return [bom + first, ...rest];
}

/** Lines above a place that are looked at. */
const MAX_ABOVE = 2000;

/**
 * Names the declaration that a place stands in, told by indentation: `function start()`, `run() of class Host`,
 * `jobs.test` in YAML and JSON, a heading in Markdown. Null at the top of a file.
 *
 * @param path its extension tells how the file nests
 * @param above all lines above the place
 * @param lines the lines of the place, on any side; those that follow where it has none
 */
export function declarationAround(
  path: string,
  above: readonly string[],
  lines: readonly string[],
): string | null {
  const near = above.slice(-MAX_ABOVE);
  if (/\.(?:md|markdown)$/i.test(path)) return headingAbove(near);
  if (/\.(?:toml|ini|cfg|conf)$/i.test(path)) return sectionAbove(near);
  const heads = headsAbove(near, indentOf(lines));
  if (/\.(?:ya?ml|jsonc?|json5)$/i.test(path)) return keysOf(heads);
  return declarationOf(heads);
}

/** Returns the lines that enclose a place, the nearest first. */
function headsAbove(above: readonly string[], inner: number): readonly string[] {
  const heads: string[] = [];
  let indent = inner;
  for (const line of above.toReversed()) {
    if (indent === 0) break;
    const text = line.trim();
    const own = widthOfIndent(line);
    if (text === '' || own >= indent || /^(?:\/\/|\/?\*|#(?!\w))/.test(text)) continue;
    heads.push(text);
    // Below the end of a head that takes several lines its beginning is as far to the left.
    indent = /^[)\]}]/.test(text) ? own + 1 : own;
  }
  return heads;
}

function indentOf(lines: readonly string[]): number {
  const indents = lines.filter((line) => line.trim() !== '').map(widthOfIndent);
  return indents.length === 0 ? 0 : Math.min(...indents);
}

function widthOfIndent(line: string): number {
  return line.length - line.trimStart().length;
}

function headingAbove(above: readonly string[]): string | null {
  const heading = above.findLast((line) => /^#{1,6} \S/.test(line));
  return heading === undefined ? null : `“${heading.replace(/^#+ /, '').trim()}”`;
}

function sectionAbove(above: readonly string[]): string | null {
  return above.findLast((line) => /^\s*\[.+\]\s*$/.test(line))?.trim() ?? null;
}

function keysOf(heads: readonly string[]): string | null {
  const keys = heads.flatMap((head) => {
    const [, quoted, plain] = /^(?:- )?(?:"([^"]+)"|'?([\w$.@/-]+)'?)\s*:/.exec(head) ?? [];
    const key = quoted ?? plain;
    return key === undefined ? [] : [key];
  });
  return keys.length === 0 ? null : keys.toReversed().join('.');
}

/** Names the nearest function or type; where there is none, the nearest name. */
function declarationOf(heads: readonly string[]): string | null {
  const names = heads.map(nameOf).filter((name) => name !== null);
  const at = names.findIndex((name) => TYPES.test(name) || /\)$|['"`]$/.test(name));
  const name = names[Math.max(at, 0)] ?? null;
  const owner = names.slice(Math.max(at, 0) + 1).find((one) => TYPES.test(one));
  if (name === null || owner === undefined) return name;
  return `${name.replace(/^function /, '')} of ${owner}`;
}

const TYPES =
  /^(?:class|interface|enum|namespace|module|trait|struct|impl|object|record|type|union|protocol|extension) /;
const MODIFIERS =
  /^(?:(?:export|default|declare|abstract|async|public|private|protected|internal|static|readonly|override|final|unsafe|open|sealed|virtual|extern(?: "\w+")?|pub(?:\([^)]*\))?) )+/;
const NO_NAMES = new Set(
  'if else for while switch case catch return with do try function new await throw match loop elif except unless until when'.split(
    ' ',
  ),
);

/** Names what a line declares; null for any other line. */
function nameOf(line: string): string | null {
  const text = line.replace(MODIFIERS, '');
  const [, called] =
    /^(?:function(?=[\s*])\s*\*?|(?:def|fn|func(?: \([^)]*\))?|fun|sub)(?=\s)) ?([\w$.]+[?!]?)/.exec(
      text,
    ) ?? [];
  if (called !== undefined) return `function ${called}()`;
  const [, impl] = /^(impl\b[^{]*)/.exec(text) ?? [];
  if (impl !== undefined) return impl.trim();
  const [, kind, name] =
    /^(class|interface|enum|namespace|module|trait|struct|object|record|type|union|protocol|extension) ([\w$.]+)/.exec(
      text,
    ) ?? [];
  if (kind !== undefined) return `${kind} ${name}`;
  const [, bound, value = ''] = /^(?:const|let|var|val) ([\w$]+)[^=]*= ?(.*)$/.exec(text) ?? [];
  if (bound !== undefined) {
    return /=>|^(?:async )?function\b|^(?:async )?\($/.test(value) ? `function ${bound}()` : bound;
  }
  return memberOf(text);
}

function memberOf(text: string): string | null {
  const [, caller, said] = /^([\w$.]+)\(\s*(['"`][^'"`]{1,60}['"`])/.exec(text) ?? [];
  if (caller !== undefined && /(?:=>\s*\{?|\bfunction\b.*\{|[,(])$/.test(text)) {
    return `${caller} ${said}`;
  }
  const [, method] = /^(?:get |set |\*|#)?([\w$]+)\s*(?:<[^(]*>)?\([^;]*\{$/.exec(text) ?? [];
  if (method !== undefined && !NO_NAMES.has(method) && !text.includes('=>')) return `${method}()`;
  const [, key] = /^['"]?([\w$-]+)['"]?\s*[:=].*[{[(]$/.exec(text) ?? [];
  return key === undefined || NO_NAMES.has(key) ? null : key;
}

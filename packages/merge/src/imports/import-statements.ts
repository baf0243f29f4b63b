import type { LineSpan } from '../lines/regions.ts';

/** An import of a program of JavaScript, or a `require` whose result is only named. */
export type ImportStatement = {
  /** The module, and how it is imported: of one file there can be an import of types beside one of values. */
  readonly key: string;
  /** The module, as it is written. */
  readonly module: string;
  /** The name for the whole module, as a default or with a star; empty if there is none. */
  readonly whole: string;
  /** Imported names as written, by their local name; null without a list. */
  readonly names: ReadonlyMap<string, string> | null;
  /** The text before and after the list of names. */
  readonly head: string;
  readonly tail: string;
  /** The lines that it is written in, without their ends. */
  readonly lines: readonly string[];
};

/** Longer ones are no imports. */
const MAX_LINES = 120;
const MAX_NAMES = 500;
const BEGIN =
  /^(?:import\b(?!\s*[(.])|(?:const|let|var)\s+[\w$]+\s*=\s*require\(|(?:const|let|var)\s*\{)/;
const END = /['"]\)? ?;?$/;
/** A line of names. */
const INNER = /^[\s\w$,:}]*$/;
const IMPORT =
  /^(import\s+(type\s+(?!from\b))?)(?:([\w$]+(?:\s*,\s*\*\s*as\s+[\w$]+)?|\*\s*as\s+[\w$]+)\s*,?\s*)?(?:\{([^{}]*)\}\s*)?(from\s*)(['"][^'"]+['"])(\s*;?)$/;
const EFFECT = /^import\s*(['"][^'"]+['"])(\s*;?)$/;
const REQUIRE =
  /^((?:const|let|var)\s+)(?:([\w$]+)|\{([^{}]*)\})(\s*=\s*require\()(['"][^'"]+['"])(\)\s*;?)$/;
/** One name of a list, and the one that it gets. */
const NAME = /^(?:type\s+)?[\w$]+(?:\s+as\s+([\w$]+))?$/;
const TAKEN = /^[\w$]+(?:\s*:\s*([\w$]+))?$/;

/** Returns the ranges of lines that look like one import each, in order. Reading a range may show that it is none. */
export function findImports(lines: readonly string[]): readonly LineSpan[] {
  const found: LineSpan[] = [];
  for (let start = 0; start < lines.length; start++) {
    if (!BEGIN.test(lines[start] ?? '')) continue;
    const end = endOf(lines, start);
    if (end === null) continue;
    found.push({ start, end });
    start = end - 1;
  }
  return found;
}

/** Returns the line after an import; null where something else stands in it, or it has no end. */
function endOf(lines: readonly string[], start: number): number | null {
  for (let line = start; line < Math.min(lines.length, start + MAX_LINES); line++) {
    const text = lines[line] ?? '';
    if (line > start && BEGIN.test(text)) return null;
    if (END.test(text.trimEnd())) return line + 1;
    if (line > start && !INNER.test(text)) return null;
  }
  return null;
}

/** Reads one import from its lines; null if it is no import, contains a comment, or has an attribute. */
export function readImport(lines: readonly string[]): ImportStatement | null {
  // Without runs of space, of which the patterns below could try all parts.
  const text = lines.join(' ').replaceAll(/\s+/g, ' ').trim();
  const effect = EFFECT.exec(text);
  if (effect !== null) {
    const [, module = '', end = ''] = effect;
    const key = `import ${unquoted(module)}`;
    return { key, module, whole: '', names: null, head: 'import ', tail: module + end, lines };
  }
  const required = REQUIRE.exec(text);
  if (required !== null) {
    const [, head = '', whole = '', listed, middle = '', module = '', end = ''] = required;
    const names = listed === undefined ? null : readNames(listed, TAKEN);
    if (listed !== undefined && names === null) return null;
    const key = `require ${names === null ? 'all of ' : ''}${unquoted(module)}`;
    return { key, module, whole, names, head, tail: `${middle}${module}${end}`, lines };
  }
  const [, head, type = '', whole = '', listed, from, module, end] = IMPORT.exec(text) ?? [];
  if (head === undefined || (whole === '' && listed === undefined)) return null;
  const names = listed === undefined ? null : readNames(listed, NAME);
  if (listed !== undefined && names === null) return null;
  const star = whole.startsWith('*') ? '* ' : '';
  const key = `${type === '' ? '' : 'type '}${star}${unquoted(module)}`;
  return {
    key,
    module: module ?? '',
    whole: whole.trim(),
    names,
    head,
    tail: ` ${from?.trim()} ${module}${end}`,
    lines,
  };
}

function readNames(listed: string, kind: RegExp): ReadonlyMap<string, string> | null {
  const names = new Map<string, string>();
  const parts = listed.split(',').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  if (parts.length > MAX_NAMES) return null;
  for (const part of parts) {
    const found = kind.exec(part);
    if (found === null) return null;
    const local = found[1] ?? part.replace(/^type /, '');
    if (names.has(local)) return null;
    names.set(local, part);
  }
  return names;
}

function unquoted(module = ''): string {
  return module.slice(1, -1);
}

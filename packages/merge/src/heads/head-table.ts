/** A line that gives a name to something: a declaration, a section or a key. */
export type Head = {
  /** Its place among the lines. */
  readonly line: number;
  /** The names of what it is in, outermost first, and its own. */
  readonly path: string;
  /** False where the name may be given again: what it opens goes on elsewhere. */
  readonly isUnique: boolean;
};

/** How a kind of file names things. */
type HeadRules = {
  /** Lines that name something, each with the groups `name`, and `kind` where names of several kinds do not meet. */
  readonly names: readonly RegExp[];
  /** Lines that only hold others, and may come again. */
  readonly scopes?: readonly RegExp[];
  /** Lines that name a part of the nearest scope, where that is of some kind. */
  readonly parts?: { readonly name: RegExp; readonly of: RegExp };
  /** Lines that begin something without a name, such as an entry of a list. */
  readonly entries?: RegExp;
  /** Names that are none, or may be given again. */
  readonly not?: RegExp;
  /** `indent`: what is indented more is inside; `section`: all up to the next scope is; null: nothing is inside. */
  readonly inside: 'indent' | 'section' | null;
};

const WORD = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;
/** Words before a declaration in Java, C#, Kotlin and their kin. */
const MODIFIERS = String.raw`(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|suspend|open|sealed|synchronized|default|readonly|partial|inline|operator)\s+)*`;
const STATEMENT =
  /^(?:if|for|foreach|while|switch|catch|return|new|else|throw|using|lock|do|try|await|yield|when|super|this|assert|case)$/;

const CLASSES = new RegExp(
  String.raw`^\s*${MODIFIERS}(?<kind>class|interface|enum|record|struct|object|trait)\s+(?<name>${WORD})`,
  'u',
);
/** A method with its parameters, since those tell apart methods of one name. */
const METHODS = new RegExp(
  String.raw`^\s+${MODIFIERS}(?:[\p{L}_][\p{L}\p{N}_<>\[\],.? ]*\s+)(?<name>${WORD}\s*\([^()]*\))\s*(?:throws [\w, .]+)?\s*(?:\{|=>|$)`,
  'u',
);
const FUN = new RegExp(
  String.raw`^\s*${MODIFIERS}(?:fun|func|def)\s+(?:<[^>]*>\s*)?(?<name>[\p{L}_][\p{L}\p{N}_.]*\s*\([^()]*\))`,
  'u',
);
const SCRIPT = new RegExp(
  String.raw`^\s*(?:export\s+)?(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s+(?<name>${WORD})`,
  'u',
);
const SECTION = /^\s*\[+\s*(?<name>[^\]]+?)\s*\]+\s*(?:[#;].*)?$/;

const JAVA: HeadRules = { names: [CLASSES, METHODS], not: STATEMENT, inside: 'indent' };
const KOTLIN: HeadRules = { names: [CLASSES, FUN], not: STATEMENT, inside: 'indent' };
const PYTHON: HeadRules = {
  names: [
    /^\s*(?:async\s+)?(?:def|class)\s+(?<name>\w+)/,
    /^(?<name>[A-Z][A-Z0-9_]*)\s*(?::[^=]+)?=(?!=)/,
  ],
  inside: 'indent',
};
const INI: HeadRules = {
  names: [/^\s*(?<name>[\w.-]+)\s*=/],
  scopes: [SECTION],
  inside: 'section',
};
const SQL: HeadRules = {
  names: [
    /^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*(?<kind>table|view|index|function|procedure|trigger|type|sequence)\s+(?:if\s+not\s+exists\s+)?(?<name>[\w."`[\]]+)/i,
  ],
  parts: { name: /^\s+(?<name>[a-z_]\w*|"[^"]+"|`[^`]+`)\s+[a-z]+\b/i, of: /^table / },
  not: /^(?:primary|foreign|unique|check|constraint|key|index|references|select|from|where|and|or|on|set|values|insert|update|delete|join|left|right|inner|order|group|having|limit|when|then|else|end|begin|declare|return|if|for|as|with|using|not|case|union|alter|add|drop|column)$/i,
  inside: 'indent',
};
const COMPONENT: HeadRules = {
  names: [SCRIPT],
  scopes: [/^\s*<(?<name>script|style|template)\b[^>]*>/],
  inside: 'indent',
};

/** The kinds of files in which one name given twice is wrong, by the endings of their names. */
const RULES: Readonly<Record<string, HeadRules>> = {
  py: PYTHON,
  pyi: PYTHON,
  java: JAVA,
  cs: JAVA,
  groovy: JAVA,
  kt: KOTLIN,
  kts: KOTLIN,
  scala: KOTLIN,
  swift: KOTLIN,
  go: {
    names: [
      /^func\s+(?:\((?:\w+\s+)?(?<kind>[^)]+)\)\s*)?(?<name>\w+)/,
      /^type\s+(?<name>\w+)/,
      /^(?:var|const)\s+(?<name>\w+)/,
    ],
    not: /^(?:init|_)$/,
    inside: 'indent',
  },
  rs: {
    names: [
      /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|const|unsafe|extern\s+"[^"]*")\s+)*fn\s+(?<name>\w+)/,
      /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|type|union)\s+(?<name>\w+)/,
    ],
    scopes: [
      /^\s*(?:unsafe\s+)?(?<name>impl\b.*?)\s*\{?\s*$/,
      /^\s*(?:pub(?:\([^)]*\))?\s+)?(?<name>mod\s+\w+)/,
    ],
    inside: 'indent',
  },
  rb: {
    names: [/^\s*def\s+(?<name>[\w.]+[?!=]?)/],
    scopes: [/^\s*(?:class|module)\s+(?<name>[\w:]+)/],
    inside: 'indent',
  },
  php: {
    names: [CLASSES, new RegExp(String.raw`^\s*${MODIFIERS}function\s+&?(?<name>${WORD})`, 'u')],
    inside: 'indent',
  },
  lua: { names: [/^\s*(?:local\s+)?function\s+(?<name>[\w.:]+)/], inside: 'indent' },
  sh: { names: [/^(?:function\s+)?(?<name>[\w-]+)\s*\(\)\s*\{?/], inside: null },
  bash: { names: [/^(?:function\s+)?(?<name>[\w-]+)\s*\(\)\s*\{?/], inside: null },
  mk: { names: [/^(?<name>[\w/-][\w./ -]*?)\s*:(?![:=])/], inside: null },
  sql: SQL,
  ini: INI,
  cfg: INI,
  conf: INI,
  properties: { names: [/^\s*(?<name>[\w.-]+)\s*[=:]/], inside: null },
  editorconfig: INI,
  tf: {
    names: [
      /^(?<kind>resource|data|module|variable|output)\s+(?<name>"[^"]*"(?:\s+"[^"]*")?)\s*\{/,
      /^\s+(?<name>[\w-]+)\s*=/,
    ],
    scopes: [/^(?<name>[\w-]+(?:\s+"[^"]*")*)\s*\{\s*$/],
    // Blocks in a block may come again.
    entries: /^\s+[\w-]+(?:\s+"[^"]*")*\s*\{\s*$/,
    inside: 'indent',
  },
  graphql: {
    names: [
      /^(?<kind>type|input|enum|interface|union|scalar|directive)\s+(?<name>@?\w+)/,
      /^\s+(?<name>\w+)\s*(?:\([^)]*\))?\s*:/,
    ],
    scopes: [/^(?<name>extend\s+\w+\s+\w+)/],
    inside: 'indent',
  },
  proto: {
    names: [
      /^\s*(?:message|enum|service|oneof)\s+(?<name>\w+)/,
      /^\s+rpc\s+(?<name>\w+)/,
      /^\s+(?:repeated\s+|optional\s+|required\s+)?[\w.<>, ]+\s+\w+\s*=\s*(?<name>\d+)\s*[;[]/,
    ],
    inside: 'indent',
  },
  json5: {
    names: [/^\s*["']?(?<name>[\w$.-]+)["']?\s*:/],
    entries: /^\s*[[{]/,
    inside: 'indent',
  },
  yaml: {
    names: [/^\s*-\s+(?:id|uid|key|slug)\s*:\s*(?<name>\S.*?)\s*$/],
    scopes: [/^\s*(?<name>["']?[\w./][\w./ -]*["']?)\s*:(?:\s|$)/],
    entries: /^\s*-(?:\s|$)/,
    inside: 'indent',
  },
  toml: {
    names: [/^\s*(?<name>[\w"'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/],
    scopes: [SECTION],
    inside: 'section',
  },
  svelte: COMPONENT,
  vue: COMPONENT,
};
const ALIASES: Readonly<Record<string, string>> = {
  makefile: 'mk',
  gnumakefile: 'mk',
  hcl: 'tf',
  gql: 'graphql',
  yml: 'yaml',
  gitconfig: 'ini',
  service: 'ini',
};

/** Reads the heads of a text. */
export type HeadReader = (lines: readonly string[]) => readonly Head[];

/** Returns the reader for the heads of a file, by its name; null if none is known. */
export function headReaderOf(path: string | undefined): HeadReader | null {
  if (path === undefined) return null;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf('.') + 1);
  const key = Object.hasOwn(ALIASES, ending) ? ALIASES[ending] : ending;
  const rules = key !== undefined && Object.hasOwn(RULES, key) ? RULES[key] : undefined;
  if (rules === undefined) return null;
  const read = (lines: readonly string[]) => readHeads(lines, rules);
  return key === 'toml' ? (lines) => withTables(read(lines)) : read;
}

/** In TOML, `a = { … }` and `a.b = 1` both define the table `a`, which lines with dots may do together. */
function withTables(heads: readonly Head[]): readonly Head[] {
  const known = new Set<string>();
  return heads.flatMap((head) => {
    const [, table] = /^([^.]*[^.\s"'])\s*\.[^\u0000]*$/.exec(head.path) ?? [];
    if (table === undefined || !head.isUnique || known.has(table)) return [head];
    known.add(table);
    return [head, { ...head, path: `${table}0` }];
  });
}

/** Longer lines name nothing that a person would look for. */
const MAX_LINE = 400;

type Scope = { readonly depth: number; readonly path: string };

function readHeads(lines: readonly string[], rules: HeadRules): readonly Head[] {
  const { names, scopes = [], parts, entries, not, inside } = rules;
  const heads: Head[] = [];
  let open: Scope[] = [];
  for (const [line, whole] of lines.entries()) {
    // A bracket alone ends nothing that its line's indentation would tell.
    if (whole.length > MAX_LINE || !/[\p{L}\p{N}[{-]/u.test(whole)) continue;
    const text = whole.trimEnd();
    const isEntry = entries?.test(text) === true;
    if (!isEntry && !/[\p{L}\p{N}]/u.test(text)) continue;
    const depth = depthOf(text) + (isEntry ? 0.5 : 0);
    if (inside === 'indent') open = open.filter((scope) => scope.depth < depth);
    const part = parts?.of.test(open.at(-1)?.path ?? '') ? [parts.name] : [];
    const found = firstMatch([...names, ...part], text, not);
    const scope = found === null ? firstMatch(scopes, text) : null;
    const named = found ?? scope ?? (isEntry ? `#${line}` : null);
    if (named === null) continue;
    if (inside === 'section' && scope !== null) open = [];
    const path = [...open.map((one) => one.path), named].join('\u0000');
    heads.push({ line, path, isUnique: found !== null });
    if (inside === 'indent' || (inside === 'section' && scope !== null)) {
      open.push({ depth, path: named });
    }
  }
  return heads;
}

function firstMatch(patterns: readonly RegExp[], text: string, not?: RegExp): string | null {
  for (const [at, pattern] of patterns.entries()) {
    const { name, kind = '' } = pattern.exec(text)?.groups ?? {};
    if (name === undefined) continue;
    const word = name.replace(/\s+/g, ' ');
    if (not?.test(/^[^\s(]*/.exec(word)?.[0] ?? '') === true) continue;
    return `${kind.toLowerCase()} ${word}${at}`;
  }
  return null;
}

/** Returns how far a line is indented, a tab as four columns; an entry of a list is deeper than its dash. */
function depthOf(text: string): number {
  const [space = ''] = /^\s*/.exec(text) ?? [];
  return [...space].reduce((depth, sign) => depth + (sign === '\t' ? 4 : 1), 0);
}

/** Returns for each line the place of the head above it; -1 for a line without one. */
export type SectionReader = (lines: readonly string[]) => readonly number[];

/** Returns the reader for the sections of a file in which the order of lines has meaning; null for others. */
export function sectionReaderOf(path: string | undefined): SectionReader | null {
  const ending = path?.slice(path.lastIndexOf('.') + 1).toLowerCase() ?? '';
  if (ending === 'md' || ending === 'markdown') return headingsAbove;
  if (ending === 'yaml' || ending === 'yml') return keysAbove;
  return ['ini', 'cfg', 'toml', 'editorconfig'].includes(ending) ? sectionsAbove : null;
}

function headingsAbove(lines: readonly string[]): readonly number[] {
  let open: readonly { readonly at: number; readonly level: number }[] = [];
  let fence: string | null = null;
  return lines.map((line, at) => {
    const [mark = null] = /^ {0,3}(?:```|~~~)/.exec(line) ?? [];
    if (mark !== null) fence = fence === null ? mark.trim() : fence === mark.trim() ? null : fence;
    const level = fence === null ? levelOf(line, lines[at + 1] ?? '') : 0;
    if (level > 0) open = open.filter((one) => one.level < level);
    const above = open.at(-1)?.at ?? -1;
    if (level > 0) open = [...open, { at, level }];
    return above;
  });
}

/** Returns how deep the heading is that a line is, by its sign or by the line below it; 0 for another line. */
function levelOf(line: string, below: string): number {
  const sign = /^(#{1,6})\s/.exec(line)?.[1];
  if (sign !== undefined) return sign.length;
  const [, underline] = /^ {0,3}(={3,}|-{3,})\s*$/.exec(below) ?? [];
  if (underline === undefined || !/^ {0,3}[^\s|>*+-]/.test(line)) return 0;
  return underline.startsWith('=') ? 1 : 2;
}

function sectionsAbove(lines: readonly string[]): readonly number[] {
  let above = -1;
  return lines.map((line, at) => {
    if (!SECTION.test(line.trimEnd())) return above;
    above = at;
    return -1;
  });
}

const YAML_KEY = /^\s*(?:-\s+)*["']?[\w./][^:#]*:(?:\s|$)/;

function keysAbove(lines: readonly string[]): readonly number[] {
  let open: readonly { readonly at: number; readonly depth: number }[] = [];
  return lines.map((whole, at) => {
    const line = whole.trimEnd();
    if (line === '' || line.trimStart().startsWith('#')) return open.at(-1)?.at ?? -1;
    const depth = depthOf(line) + (/^\s*-(?:\s|$)/.test(line) ? 0.5 : 0);
    open = open.filter((one) => one.depth < depth);
    const above = open.at(-1)?.at ?? -1;
    if (YAML_KEY.test(line)) open = [...open, { at, depth }];
    return above;
  });
}

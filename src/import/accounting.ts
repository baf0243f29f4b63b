import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { LeftBehind } from './imported-items.ts';
import { columnsOf, countFilled, countRows, tablesOf } from './source-database.ts';
import { isFolder, NEVER, namesIn } from './source-files.ts';

/**
 * Accounts for everything in a source. Each source names what becomes of its files, of the keys of its settings, and of
 * the tables and columns of its databases; what no rule names is listed as not known. So nothing is left behind without a line, also when a newer version of the other
 * assistant stores something in a new place.
 */

/**
 * The treatment of everything that a pattern names. A reader reports what it leaves out of the files that it reads.
 */
export type Fate =
  | { readonly kind: 'read'; readonly why: null }
  | { readonly kind: 'ignored'; readonly why: string }
  | { readonly kind: 'left'; readonly why: string };

/**
 * Treatments by pattern; the first match decides. Parts are separated by `/`, `*` stands for any characters within
 * one part, and a last part `**` for the place itself and everything below it.
 */
export type Rules = Readonly<Record<string, Fate>>;

export const READ: Fate = { kind: 'read', why: null };
export const ignored = (why: string): Fate => ({ kind: 'ignored', why });
export const left = (why: string): Fate => ({ kind: 'left', why });
/** Gives several patterns one fate. */
export const each = (patterns: readonly string[], fate: Fate): Rules =>
  Object.fromEntries(patterns.map((pattern) => [pattern, fate]));

/** Gives columns of a table one fate; their names have blanks between them. */
export const ofTable = (table: string, names: string, fate: Fate = READ): Rules =>
  each(
    names.split(' ').map((name) => `${table}/${name}`),
    fate,
  );

/** The reason of a line for what no rule names. */
export const NOT_KNOWN = 'not known here, left where it is';
/** More lines than this about one folder would hide what matters. */
const MOST_ALIKE = 5;

/** Lists the files and folders of a source that stay behind; a folder in which nothing is known is one line. */
export function filesLeft(root: string, rules: Rules): readonly LeftBehind[] {
  const namesBelow = (path: string) => {
    if (!isFolder(join(root, path))) return null;
    return namesIn(join(root, path)).filter((name) => !NEVER.has(name));
  };
  return shortened(accountFor(namesBelow, rules), (path) => path);
}

/** Lists the keys of a source's settings that stay behind; a section in which nothing is known is one line. */
export function keysLeft(settings: unknown, file: string, rules: Rules): readonly LeftBehind[] {
  const namesBelow = (path: string) => {
    const value = path === '' ? settings : path.split('/').reduce(valueAt, settings);
    return typeof value === 'object' && value !== null ? Object.keys(value) : null;
  };
  const lines = accountFor(namesBelow, rules);
  return shortened(lines, (path) => `${path.replaceAll('/', '.')} in ${file}`);
}

/**
 * Lists the tables of databases that stay, and the columns of known tables, with the number of rows that say something
 * there. Rules name a table and a column, as `messages/text`; what is empty needs none. Databases of one kind, such as
 * those of all sessions, are counted together.
 */
export function tablesLeft(
  databases: Iterable<Database>,
  file: string,
  rules: Rules,
): readonly LeftBehind[] {
  const found = new Map<string, Left & { readonly rows: number | null }>();
  for (const database of databases) {
    const namesBelow = (path: string) => {
      const [table = '', column] = path.split('/').map(nameOf);
      if (table === '') return tablesOf(database);
      if (column !== undefined) return countFilled(database, table, column) === 0 ? [] : null;
      const rows = countRows(database, table);
      if (rows === null) return null;
      return rows === 0 ? [] : [...columnsOf(database, table)];
    };
    for (const line of accountFor(namesBelow, rules)) {
      const [table = '', column] = line.path.split('/').map(nameOf);
      const count =
        column === undefined ? countRows(database, table) : countFilled(database, table, column);
      const { rows = 0 } = found.get(line.path) ?? {};
      found.set(line.path, { ...line, rows: sum(rows, count) });
    }
  }
  const describe = ({ path, rows }: { readonly path: string; readonly rows: number | null }) => {
    const [table = '', column] = path.split('/').map(nameOf);
    const what = column === undefined ? `the table ${table}` : `the column ${column} of ${table}`;
    return `${what} in ${file} (${rowWords(rows)})`;
  };
  return [...alike([...found.values()])].flatMap((lines) => {
    const [first] = lines;
    if (first === undefined) return [];
    if (lines.length <= MOST_ALIKE)
      return lines.map((line) => ({ what: describe(line), why: line.why }));
    const all = lines.reduce<number | null>((rows, line) => sum(rows, line.rows), 0);
    const names = lines.map(({ path }) => nameOf(path.split('/').at(-1) ?? '')).join(', ');
    const what =
      first.parent === ''
        ? `${lines.length} tables in ${file} (${rowWords(all)}): ${names}`
        : `${lines.length} columns of ${nameOf(first.parent)} in ${file}: ${names}`;
    return [{ what, why: first.why }];
  });
}

function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function rowWords(rows: number | null): string {
  if (rows === null) return 'rows that cannot be counted here';
  return `${rows} ${rows === 1 ? 'row' : 'rows'}`;
}

/** A name may hold a slash; its place is written with another sign, so that a path has a part for each name. */
function nameOf(part: string): string {
  return part.replaceAll('\u2215', '/');
}

function valueAt(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const name = nameOf(key);
  return Object.entries(value).find(([one]) => one === name)?.[1];
}

function accountFor(
  namesBelow: (path: string) => readonly string[] | null,
  rules: Rules,
): readonly Left[] {
  const lines: Left[] = [];
  const parsed = Object.entries(rules).map(([pattern, fate]) => ({
    parts: pattern.split('/').map(partOf),
    fate,
  }));
  const visit = (path: string, parts: readonly string[]): void => {
    const found = parsed.find((rule) => isMatch(rule.parts, parts));
    if (found !== undefined && found.fate.kind !== 'left') return;
    const names = namesBelow(path);
    if (names?.length === 0) return;
    // Where something below has a fate of its own, each name below is looked at alone.
    const mayHold = parts.length === 0 || parsed.some((rule) => isAbove(rule.parts, parts));
    if (names === null || !mayHold) {
      lines.push({ parent: parts.slice(0, -1).join('/'), path, why: found?.fate.why ?? NOT_KNOWN });
      return;
    }
    for (const name of names) {
      const part = name.replaceAll('/', '\u2215');
      visit(path === '' ? part : `${path}/${part}`, [...parts, part]);
    }
  };
  visit('', []);
  return lines;
}

function alike<L extends Left>(lines: readonly L[]): Iterable<readonly L[]> {
  return Map.groupBy(lines, ({ parent, why }) => `${parent}\0${why}`).values();
}

/** One line for many names of one folder that stay for the same reason. */
function shortened(lines: readonly Left[], describe: (path: string) => string): LeftBehind[] {
  return [...alike(lines)].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    if (group.length <= MOST_ALIKE || first.parent === '') {
      return group.map(({ path, why }) => ({ what: describe(path), why }));
    }
    return [{ what: `${describe(first.parent)} (${group.length} of its entries)`, why: first.why }];
  });
}

type Left = { readonly parent: string; readonly path: string; readonly why: string };

/** One part of a pattern; null for everything from here on. */
type Part = RegExp | null;

function partOf(part: string): Part {
  if (part === '**') return null;
  return new RegExp(`^${part.replace(/[^\w*]/gu, '\\$&').replaceAll('*', '.*')}$`, 's');
}

function isMatch(rule: readonly Part[], parts: readonly string[]): boolean {
  const isOpen = rule.at(-1) === null;
  const fixed = isOpen ? rule.slice(0, -1) : rule;
  if (isOpen ? parts.length < fixed.length : parts.length !== fixed.length) return false;
  return fixed.every((part, at) => part?.test(parts[at] ?? '') === true);
}

/** Tells whether a rule names something below a place, and not the whole of it. */
function isAbove(rule: readonly Part[], parts: readonly string[]): boolean {
  const fixed = rule.at(-1) === null ? rule.slice(0, -1) : rule;
  return parts.length < fixed.length && parts.every((part, at) => fixed[at]?.test(part) === true);
}

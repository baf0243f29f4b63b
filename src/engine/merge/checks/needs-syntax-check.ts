import type { Versions } from '../../tree.ts';
import { linesOf } from '../lines/region-lines.ts';
import type { Region } from '../lines/regions.ts';
import { type Format, isLanguage } from '../syntax/language.ts';

const KEYWORD =
  'const|let|var|function|class|interface|type|enum|namespace|import|default|as|get|set|static|' +
  'public|private|protected|readonly|async|declare|abstract|override';
/** Matches a word in the position of a declared name: what may precede it, the word, what may follow. */
const DECLARED = new RegExp(
  `(?:^|[{[,;*"'#]|\\.{3}|\\b(?<word>${KEYWORD})\\s)\\s*(?<name>[\\w$\\x80-\\uffff]+)["']?` +
    `(?=\\s*(?:$|[:=,};<?!{\\])]|\\((?!["'\`])|(?:as|from|extends|implements|of|in)\\b))`,
  'g',
);
/** Matches things without a name that may occur once: the label of a case, the default export. */
const LABEL = /\bcase\s+([^:]+):|\bexport\s+(default|=)/g;
const BRACKETS = /[()[\]{}]/g;

/**
 * Finds out whether a merge may have declared a name twice, or put brackets together that do not
 * match: both sides alone must then have had a part in it. Spares most merges the parser.
 *
 * @returns the sides that a look is worth for, each taken for all conflicts; one of them, where there
 *   are none
 */
export function sidesToCheck(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  format: Format,
): readonly ('ours' | 'theirs')[] {
  const ours = regions.filter(({ kind }) => kind === 'ours');
  const theirs = regions.filter(({ kind }) => kind === 'theirs');
  const open = regions.filter(({ kind }) => kind === 'conflict');
  const parts = [ours, theirs, open].filter(({ length }) => length > 0);
  if (parts.length < 2) return [];
  // Other formats than languages are short, and rare.
  if (!isLanguage(format)) return open.length > 0 ? ['ours', 'theirs'] : ['ours'];
  const isUneven = (region: Region) => !isEven(region, lines);
  if (open.length === 0 && ours.some(isUneven) && theirs.some(isUneven)) return ['ours'];
  const gained = (some: readonly Region[]) =>
    new Set(some.flatMap((region) => namesGained(region, lines)));
  // One side may have moved away what the other one keeps in a conflict.
  const namesOpen = (side: 'ours' | 'theirs') => {
    const said = open.flatMap((region) => linesOf({ ...region, kind: side }, lines));
    return new Set(said.flatMap(namesIn).map(({ name }) => name));
  };
  const mine = gained(ours);
  const other = gained(theirs);
  const isOurs = isMet(mine, other) || isMet(other, namesOpen('ours'));
  const isTheirs = isMet(mine, namesOpen('theirs'));
  return [...(isOurs ? ['ours' as const] : []), ...(isTheirs ? ['theirs' as const] : [])];
}

function isMet(names: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...names].some((name) => others.has(name));
}

/** Tells whether a change leaves as many brackets open as there were before. */
function isEven(region: Region, lines: Versions<readonly string[]>): boolean {
  const before = lines.base.slice(region.base.start, region.base.end);
  return bracketsLeftBy(before) === bracketsLeftBy(linesOf(region, lines));
}

/** Counts the brackets of each kind that lines leave open, as one comparable word. */
function bracketsLeftBy(lines: readonly string[]): string {
  const counts = new Map([...'()[]{}'].map((bracket) => [bracket, 0]));
  for (const line of lines) {
    for (const [bracket] of line.matchAll(BRACKETS)) {
      counts.set(bracket, (counts.get(bracket) ?? 0) + 1);
    }
  }
  const left = (open: string, close: string) => (counts.get(open) ?? 0) - (counts.get(close) ?? 0);
  return `${left('(', ')')} ${left('[', ']')} ${left('{', '}')}`;
}

/** Returns the names that a change may declare: more often than before, with another word, or further in. */
function namesGained(region: Region, lines: Versions<readonly string[]>): readonly string[] {
  const before = lines.base.slice(region.base.start, region.base.end);
  const counts = new Map<string, number>();
  for (const { key } of before.flatMap(namesIn)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return linesOf(region, lines)
    .flatMap(namesIn)
    .flatMap(({ name, key }) => {
      const left = counts.get(key) ?? 0;
      counts.set(key, left - 1);
      return left > 0 ? [] : [name];
    });
}

/** Returns the words of a line that may be names; `key` includes indentation and keyword. */
function namesIn(line: string): readonly { readonly name: string; readonly key: string }[] {
  const trimmed = line.trim();
  const indent = line.length - line.trimStart().length;
  const labels = [...trimmed.matchAll(LABEL)].map(([, label, word]) => label?.trim() ?? word ?? '');
  const declared = [...trimmed.matchAll(DECLARED)].map(({ groups }) => groups ?? {});
  return [
    ...labels.map((name) => ({ name, key: `${indent} ${name}` })),
    ...declared.map(({ name = '', word = '' }) => ({ name, key: `${indent} ${word} ${name}` })),
  ];
}

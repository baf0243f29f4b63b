import type { Versions } from '../tree.ts';
import { linesOf } from './region-lines.ts';
import type { Region } from './regions.ts';
import { type Format, isLanguage } from './syntax/language.ts';

const KEYWORD =
  'const|let|var|function|class|interface|type|enum|namespace|import|default|as|get|set|static|' +
  'public|private|protected|readonly|async|declare|abstract|override';
/** A word where a declaration has its name: what may stand before it, the word, what may follow. */
const DECLARED = new RegExp(
  `(?:^|[{,;*"'#]|\\b(?:${KEYWORD})\\s)\\s*([\\w$\\x80-\\uffff]+)["']?` +
    `(?=\\s*(?:$|[:=,};<?!{\\])]|\\((?!["'\`])|(?:as|from|extends|implements|of|in)\\b))`,
  'g',
);
/** What has no name and may stand once: the label of a case, the default export. */
const LABEL = /\bcase\s+([^:]+):|\bexport\s+(default|=)/g;
const BRACKETS = /[()[\]{}]/g;

/**
 * Whether a merge may have declared a name twice, or put brackets together that do not match: both
 * sides alone must then have had a part in it. Spares most merges the parser.
 *
 * Conflicts count as if each side stood there.
 */
export function mayClash(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  format: Format,
): boolean {
  const ours = regions.filter(({ kind }) => kind === 'ours');
  const theirs = regions.filter(({ kind }) => kind === 'theirs');
  const open = regions.filter(({ kind }) => kind === 'conflict');
  const isMixed =
    open.length > 0 ? ours.length + theirs.length > 0 : ours.length * theirs.length > 0;
  // Other formats than languages are short, and rare.
  if (!isMixed || !isLanguage(format)) return isMixed;
  const isUneven = (region: Region) => !isEven(region, lines);
  if (open.length === 0 && ours.some(isUneven) && theirs.some(isUneven)) return true;
  const namesOf = (some: readonly Region[], side: 'ours' | 'theirs') =>
    new Set(some.flatMap((region) => namesIn(linesOf({ ...region, kind: side }, lines))));
  const mine = namesOf(ours, 'ours');
  const other = namesOf(theirs, 'theirs');
  return (
    isMet(mine, other) ||
    isMet(mine, namesOf(open, 'theirs')) ||
    isMet(namesOf(open, 'ours'), other)
  );
}

function isMet(names: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...names].some((name) => others.has(name));
}

/** Whether a change leaves as many brackets open as there were before. */
function isEven(region: Region, lines: Versions<readonly string[]>): boolean {
  const before = lines.base.slice(region.base.start, region.base.end);
  return bracketsLeftBy(before) === bracketsLeftBy(linesOf(region, lines));
}

/** How many brackets of each kind lines open beyond those they close, as one comparable word. */
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

function namesIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    const labels = [...line.matchAll(LABEL)].map(([, label, word]) => label?.trim() ?? word ?? '');
    return [...labels, ...[...line.trim().matchAll(DECLARED)].map(([, name = '']) => name)];
  });
}

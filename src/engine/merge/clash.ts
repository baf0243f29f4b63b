import type { Versions } from '../tree.ts';
import { linesOf } from './region-lines.ts';
import type { Region } from './regions.ts';

const KEYWORD =
  'const|let|var|function|class|interface|type|enum|namespace|import|default|as|get|set|static|' +
  'public|private|protected|readonly|async|declare|abstract|override';
/** A word where a declaration has its name: what may stand before it, the word, what may follow. */
const DECLARED = new RegExp(
  `(?:^|[{,;*"'#]|\\b(?:${KEYWORD})\\s)\\s*([\\w$\\x80-\\uffff]+)["']?` +
    `(?=\\s*(?:$|[:=,};<?!{\\])]|\\((?!["'\`])|(?:as|from|extends|implements|of|in)\\b))`,
  'g',
);
const BRACKETS = /[()[\]{}]/g;

/**
 * Whether a clean merge may have declared a name twice, or put brackets together that do not match:
 * both sides alone must then have had a part in it. Spares most merges the parser.
 */
export function mayClash(regions: readonly Region[], lines: Versions<readonly string[]>): boolean {
  const ours = regions.filter(({ kind }) => kind === 'ours');
  const theirs = regions.filter(({ kind }) => kind === 'theirs');
  if (ours.length === 0 || theirs.length === 0) return false;
  const isUneven = (region: Region) => !isEven(region, lines);
  if (ours.some(isUneven) && theirs.some(isUneven)) return true;
  const names = new Set(ours.flatMap((region) => namesIn(linesOf(region, lines))));
  return theirs.some((region) => namesIn(linesOf(region, lines)).some((name) => names.has(name)));
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
  return lines.flatMap((line) => [...line.trim().matchAll(DECLARED)].map(([, name = '']) => name));
}

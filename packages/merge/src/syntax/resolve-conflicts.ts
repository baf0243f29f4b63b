import {
  type LineSpan,
  type Region,
  type Rule,
  type Stretch,
  stretchesAround,
  takeStretch,
} from '../lines/regions.ts';
import type { Language } from './language.ts';
import { type Layout, mergeLayout } from './layout.ts';
import {
  bordersAround,
  bordersOf,
  type Insertion,
  type Lists,
  listsIn,
  mergeInsertions,
} from './merge-insertions.ts';
import { linesOf, readText, type Side, type Sides, spanOf } from './parsed-side.ts';
import { countWords, isSameWords, wordsBetween } from './syntax-words.ts';

/** A text for a stretch that two sides disagree about. */
type Answer = { readonly region: Region; readonly text: string; readonly rule: Rule };

/** Trying insertions one by one takes a parse for each. */
const MAX_SINGLE = 8;
/** Lists around a conflict whose members are tried. */
const MAX_AROUND = 3;

/**
 * Returns the regions with those conflicts resolved that are about layout, or insertions into one list.
 *
 * @param isSolvable false for conflicts that are left as they are
 */
export function resolveConflicts(
  regions: readonly Region[],
  sides: Sides | null,
  language: Language,
  isSolvable: (region: Region) => boolean,
): readonly Region[] {
  if (sides === null) return regions;
  const layouts: (Layout & Answer)[] = [];
  const insertions: (Insertion & Answer)[] = [];
  const lists = listsIn(sides);
  const widened = [...regions];
  for (const [index, region] of regions.entries()) {
    if (region.kind !== 'conflict' || !isSolvable(region)) continue;
    const layout = mergeLayout(region, sides);
    if (layout !== null) {
      layouts.push({ region, rule: 'layout', ...layout });
      continue;
    }
    for (const place of placesOf(widened, index, sides, lists)) {
      const insertion = mergeInsertions(place.region, sides, lists, language);
      if (insertion === null) continue;
      insertions.push({ region: place.region, rule: 'members', ...insertion });
      takeStretch(widened, index, place);
      break;
    }
  }
  const answers = [
    ...keepWords(layouts, 'ours', sides, language),
    ...keepWords(layouts, 'theirs', sides, language),
    ...keepParsing(insertions, sides, language),
  ];
  const found = new Map(answers.map((answer) => [answer.region, answer]));
  return widened.map((region) => {
    const answer = found.get(region);
    if (answer === undefined) return region;
    const { text, rule } = answer;
    return { ...region, kind: 'resolved', lines: linesOf(text, sides), rule };
  });
}

/** Lists the stretches around a conflict at which members of any list, or of one list around it, begin and end. */
function* placesOf(
  regions: readonly Region[],
  index: number,
  sides: Sides,
  lists: Lists,
): Iterable<Stretch> {
  yield* stretchesAround(regions, index, () => bordersOf(sides, lists));
  const region = regions[index];
  if (region === undefined) return;
  let tried = 0;
  for (const borders of bordersAround(region, sides, lists)) {
    if (tried++ === MAX_AROUND) return;
    yield* stretchesAround(regions, index, () => borders);
  }
}

/**
 * Keeps new layouts of one side's words if they leave the meaning unchanged; else restores the original
 * words.
 */
function keepWords(
  layouts: readonly (Layout & Answer)[],
  name: 'ours' | 'theirs',
  sides: Sides,
  language: Language,
): readonly Answer[] {
  const own = layouts.filter(({ words }) => words === name);
  if (own.every(({ text, plain }) => text === plain)) return own;
  const read = readText(withAnswers(sides[name], name, own), language);
  if (read !== null && isSameWords(read.words, sides[name].words)) return own;
  return own.map(({ region, plain, rule }) => ({ region, text: plain, rule }));
}

/**
 * Returns the insertions with which each side still parses, has all its words, and repeats no declaration.
 */
function keepParsing(
  answers: readonly (Insertion & Answer)[],
  sides: Sides,
  language: Language,
): readonly Answer[] {
  const isWhole = (some: readonly (Insertion & Answer)[]) =>
    (['ours', 'theirs'] as const).every((name) => {
      const side = sides[name];
      const read = readText(withAnswers(side, name, some), language);
      if (read === null) return false;
      // A comment at the end of a line could have swallowed an insertion after it.
      const added = some.map(({ region, words }) => words - wordsIn(side, region[name]));
      const expected = added.reduce((sum, count) => sum + count, countWords(side.words));
      const redeclared = read.syntax.redeclared.length;
      return countWords(read.words) === expected && redeclared <= side.syntax.redeclared.length;
    });
  if (answers.length === 0 || isWhole(answers)) return answers;
  return answers.length > MAX_SINGLE ? [] : answers.filter((answer) => isWhole([answer]));
}

function wordsIn(side: Side, lines: LineSpan): number {
  const { start, end } = spanOf(side, lines);
  return countWords(wordsBetween(side.words, start, end) ?? []);
}

function withAnswers(side: Side, name: 'ours' | 'theirs', answers: readonly Answer[]): string {
  let from = 0;
  const parts: string[] = [];
  for (const { region, text } of answers) {
    const { start, end } = spanOf(side, region[name]);
    parts.push(side.text.slice(from, start), text);
    from = end;
  }
  return parts.join('') + side.text.slice(from);
}

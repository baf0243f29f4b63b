import type { Conflict, DataOf } from '../../commands.ts';
import { wrap } from '../../text/wrap.ts';
import { type Colour, cut, painted, type Screen, shown } from '../screen.ts';
import { padded, wrapped } from './columns.ts';

/** A conflict as `claw conflicts` tells it. */
export type Detail = NonNullable<DataOf<'conflicts'>['details']>[number];

/** Fewer columns than these have no room for two texts beside each other. */
const BESIDE_COLUMNS = 100;

type Labels = { readonly ours: string; readonly theirs: string };
type Notes = { readonly ours: string | null; readonly theirs: string | null };
type Texts = { readonly base: string; readonly ours: string; readonly theirs: string };

/** Returns a whole conflict with its places, and the numbered choices at each. */
export function conflictLines(
  conflict: Conflict,
  detail: Detail,
  screen: Screen,
): readonly string[] {
  const { places, values, ways } = detail;
  const [ours, theirs] = conflict.layers;
  if (places.length === 0) {
    const sides = values && [
      `    ${ours}: ${wanted(values.ours)}`,
      `    ${theirs}: ${wanted(values.theirs)}`,
    ];
    const choices = detail.decidable && values === null ? choiceLines(ways) : [];
    return [...headingLines(conflict, detail, screen), ...(sides ?? []), ...choices];
  }
  return [
    ...headingLines(conflict, detail, screen),
    ...places.flatMap((_, at) => [
      '',
      ...placeLines(detail, at, screen),
      '',
      ...choiceLines(places[at]?.ways ?? []),
    ]),
    '',
  ];
}

/** Returns lines about a conflict: where it is, between whom, and why. */
export function headingLines(
  { path, kind, layers, reason }: Conflict,
  { places: [first] }: Pick<Detail, 'places'>,
  screen: Screen,
): readonly string[] {
  const place = first === undefined ? path : `${path}:${first.line}`;
  const where = first?.declaration == null ? '' : ` in ${plain(first.declaration, screen)}`;
  return [
    `  ! ${painted(place, 'yellow', screen)}${where}${painted(`  ${kind}, ${layers.join(' against ')}`, 'dim', screen)}`,
    `    ${plain(reason, screen)}`,
  ];
}

/** Returns one place of a conflict, with what each side's notes say must be kept. */
export function placeLines(
  { places, keeps, path }: Detail,
  at: number,
  screen: Screen,
): readonly string[] {
  const place = places[at];
  if (place === undefined) return [];
  const { declaration, line, layers } = place;
  const inside = declaration === null ? '' : ` in ${plain(declaration, screen)}`;
  const count = at === 0 ? [] : [`  ${at + 1} of ${places.length}: ${path}:${line}${inside}`];
  return [
    ...count,
    ...around(place.above, screen),
    // Notes are about the file: told once.
    ...besideLines(
      place,
      { ours: layers[0], theirs: layers[1] },
      { screen, ...(at === 0 ? { notes: keeps } : {}) },
    ),
    ...around(place.below, screen),
  ];
}

function choiceLines(ways: readonly { readonly label: string }[]): readonly string[] {
  return ways.map(({ label }, at) => `  ${at + 1}  ${label}`);
}

/** Three versions of a text: base above, the sides below it, beside each other where there is room. */
export function besideLines(
  texts: Texts,
  labels: Labels,
  { screen, notes = { ours: null, theirs: null } }: { screen: Screen; notes?: Notes },
): readonly string[] {
  const columns = widthOf(screen);
  const base = [
    rule('base', columns, 'dim', screen),
    ...linesOf(texts.base, columns - 2, screen).map((line) => painted(`  ${line}`, 'dim', screen)),
  ];
  const sideLines = (side: 'ours' | 'theirs', room: number) => [
    ...noteLines(notes[side], room, screen),
    ...linesOf(texts[side], room, screen).map((line) => ({ line, isNote: false })),
  ];
  if (columns < BESIDE_COLUMNS) {
    const stacked = (side: 'ours' | 'theirs') =>
      sideLines(side, columns - 2).map(({ line, isNote }) =>
        isNote ? painted(`  ${line}`, 'dim', screen) : `  ${line}`,
      );
    return [
      ...base,
      rule(labels.ours, columns, 'cyan', screen),
      ...stacked('ours'),
      rule(labels.theirs, columns, 'magenta', screen),
      ...stacked('theirs'),
      rule('', columns, 'dim', screen),
    ];
  }
  const half = Math.floor((columns - 3) / 2);
  const left = sideLines('ours', half);
  const right = sideLines('theirs', half);
  const cell = (side: typeof left, at: number, width: number) => {
    const { line, isNote } = side[at] ?? { line: '', isNote: false };
    return isNote ? painted(padded(line, width), 'dim', screen) : padded(line, width);
  };
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
    [cell(left, at, half), cell(right, at, 0)].join(painted(' │ ', 'dim', screen)).trimEnd(),
  );
  const heads = `${rule(labels.ours, half, 'cyan', screen)}${painted('─┬─', 'dim', screen)}${rule(labels.theirs, half, 'magenta', screen)}`;
  const foot = painted(`${'─'.repeat(half)}─┴─${'─'.repeat(half)}`, 'dim', screen);
  return [...base, heads, ...rows, foot];
}

/** Returns a value as it is read and typed. */
function wanted(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function noteLines(note: string | null, room: number, screen: Screen) {
  if (note === null) return [];
  return wrap(plain(`“${note}”`, screen), room)
    .split('\n')
    .map((line) => ({ line, isNote: true }));
}

function rule(label: string, columns: number, colour: Colour, screen: Screen): string {
  const words = label === '' ? '' : `${cut(label, columns - 4)} `;
  const left = label === '' ? '' : '── ';
  const line = '─'.repeat(Math.max(0, columns - left.length - words.length));
  return (
    painted(left, 'dim', screen) + painted(words, colour, screen) + painted(line, 'dim', screen)
  );
}

function around(content: string, screen: Screen): readonly string[] {
  if (content === '') return [];
  return content
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => painted(`  ${cut(plain(line, screen), widthOf(screen) - 2)}`, 'dim', screen));
}

function linesOf(content: string, columns: number, screen: Screen): readonly string[] {
  if (content === '') return ['(nothing)'];
  const lines = content.replace(/\n$/, '').split('\n');
  return lines.flatMap((line) => wrapped(plain(line, screen), columns));
}

function plain(line: string, screen: Screen): string {
  return shown(line.replace(/\r$/, '').replaceAll('\t', '  '), screen);
}

function widthOf({ columns }: Screen): number {
  return Math.max(24, columns ?? 80);
}

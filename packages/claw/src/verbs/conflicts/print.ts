import type { Conflict } from '../../conflict.ts';
import type { DataOf } from '../../contract/result.ts';
import { shellWord } from '../../errors.ts';
import { type Colour, cut, painted, type Screen, shown } from '../../text/screen.ts';
import { wrap } from '../../text/wrap.ts';

/** Returns the lines of `claw conflicts`: the operation that waits, and how each conflict can be resolved. */
export function waitingLines(
  { operation, details = [], answers }: DataOf<'conflicts'>,
  conflicts: readonly Conflict[],
  screen: Screen,
): readonly string[] {
  if (operation === null) return ['Nothing waits for a decision.'];
  if (answers !== undefined) return [answers.trimEnd()];
  const lines = details.flatMap((detail) => {
    const conflict = conflicts.find((one) => one.path === detail.path);
    if (detail.decided || conflict === undefined) return [`  ✓ ${detail.path}  decided`];
    return openLines(conflict, detail, screen);
  });
  const isOpen = details.some(({ decided }) => !decided);
  return [
    `"${[operation.verb, ...operation.arguments].join(' ')}" waits:`,
    ...lines,
    ...(isOpen ? WAYS_ON : [`All conflicts are resolved. ${CARRY_OUT}`]),
  ];
}

/** Places that a command shows in full when it is blocked; `claw conflicts` shows all. */
const SHOWN_PLACES = 6;

/** A conflict as `claw conflicts` tells it. */
export type Detail = NonNullable<DataOf<'conflicts'>['details']>[number];

/** Returns the conflicts that block a command: the first ones in full, the others by name. */
export function blockingLines(
  conflicts: readonly Conflict[],
  details: readonly Detail[],
  screen: Screen,
): readonly string[] {
  let shown = 0;
  const lines = conflicts.flatMap((conflict) => {
    const detail = details.find(({ path }) => path === conflict.path);
    shown += Math.max(1, detail?.places.length ?? 1);
    if (detail === undefined || detail.decided) return [];
    return shown <= SHOWN_PLACES
      ? openLines(conflict, detail, screen)
      : headingLines(conflict, detail, screen);
  });
  const more = shown <= SHOWN_PLACES ? [] : ['`claw conflicts` shows all of them.'];
  return [...lines, ...more, ...WAYS_ON];
}

function openLines(conflict: Conflict, detail: Detail, screen: Screen): readonly string[] {
  const { text, offers } = detail;
  return [
    ...conflictLines(conflict, detail, screen),
    ...movedLines(conflict, false),
    ...(text === null ? [] : [`    see ${text}`]),
    ...offers.map(({ key, origin }) => `    offered: --recording ${key}  (by ${byWhom(origin)})`),
  ];
}

/** Returns the commands that tell claw where a file moved, if the release has candidates for it. */
export function movedLines(
  { path, candidates = [] }: Conflict,
  isPlan: boolean,
): readonly string[] {
  return candidates.map((to) =>
    isPlan
      ? `    --moved ${shellWord(`${path}=${to}`)}  would say so`
      : `    if so: claw resolve ${shellWord(path)} --moved ${shellWord(to)}`,
  );
}

/** The commands for an operation that waits for decisions. */
export const WAYS_ON = [
  '`claw resolve <path>` resolves a conflict, with `--choose 1` by the number of a choice.',
  '`claw continue` carries the command out once all are resolved, `claw abort` forgets it.',
];

/** Fewer columns than these have no room for two texts beside each other. */
const BESIDE_COLUMNS = 100;

type Labels = { readonly ours: string; readonly theirs: string };
type Notes = { readonly ours: string | null; readonly theirs: string | null };
type Texts = { readonly base: string; readonly ours: string; readonly theirs: string };

/** Returns a whole conflict with its places, and the numbered choices at each. */
function conflictLines(conflict: Conflict, detail: Detail, screen: Screen): readonly string[] {
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

/** Returns lines about a conflict: its place, its sides, and the reason. */
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

/** Returns three versions of a text: base above, the sides below it, next to each other if there is room. */
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

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;
const NARROW = /\p{Mark}|\u200b|\u200d|\ufe0f/u;

/** Returns the number of columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  return [...text].reduce((width, character) => width + widthOfOne(character), 0);
}

/** Returns a text in pieces that each fit into a number of columns; one piece at least. */
export function wrapped(text: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const character of text) {
    const more = widthOfOne(character);
    if (width + more > columns && piece !== '') {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += character;
    width += more;
  }
  return [...pieces, piece];
}

/** Pads a text with spaces to a number of columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

function widthOfOne(character: string): number {
  if (NARROW.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
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

/** The next step that every verb names once nothing is open. */
const CARRY_OUT = '`claw continue` carries the command out, `claw abort` forgets it.';

/** Returns lines about a decision of `claw resolve`, and about the conflicts that are still open. */
export function resolvedLines({ path, open }: DataOf<'resolve'>): readonly string[] {
  const next =
    open.length === 0
      ? `All conflicts are resolved. ${CARRY_OUT}`
      : `Still open: ${open.join(', ')}.`;
  return [path === null ? next : `Decided: ${path}. ${next}`];
}

/** Says who made a decision. */
export function byWhom(origin: string): string {
  if (origin === 'release') return 'the release, which contains it';
  return origin === 'owner' ? 'its owner' : origin;
}

import type { Conflict } from '../../engine/commands.ts';
import { padded, wrapped } from '../render/columns.ts';
import { type Colour, cut, painted, type Screen, shown } from '../screen.ts';

const CONTEXT_LINES = 3;
const NOTE_LINES = 12;
const BESIDE_COLUMNS = 60;

type Labels = { readonly ours: string; readonly theirs: string };
type Texts = { readonly base: string; readonly ours: string; readonly theirs: string };

/** Returns lines about a conflict, with the notes of both sides' authors about the file. */
export function headingLines(
  { path, kind, layers, reason }: Conflict,
  notes: string | null,
  screen: Screen,
): readonly string[] {
  const words = (notes ?? '')
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '');
  const more = words.length > NOTE_LINES ? ['…'] : [];
  return [
    painted(path, 'yellow', screen) +
      painted(`  ${kind}, ${layers.join(' against ')}`, 'dim', screen),
    reason,
    ...[...words.slice(0, NOTE_LINES), ...more].map((line) =>
      painted(`  ${cut(plain(line, screen), widthOf(screen) - 2)}`, 'dim', screen),
    ),
  ];
}

/** Returns one open hunk of a conflict: what both came from above, ours and theirs side by side below. */
export function hunkLines(
  { hunks, layers }: Conflict,
  index: number,
  screen: Screen,
): readonly string[] {
  const places = hunks.flatMap((hunk, at) => (hunk.kind === 'conflict' ? [at] : []));
  const place = places[index] ?? 0;
  const hunk = hunks[place];
  if (hunk?.kind !== 'conflict') return [];
  const resolvedLines = (at: number) => {
    const other = hunks[at];
    return other?.kind === 'resolved' ? other.lines : [];
  };
  const texts = { base: text(hunk.base), ours: text(hunk.ours), theirs: text(hunk.theirs) };
  return [
    ...around(resolvedLines(place - 1).slice(-CONTEXT_LINES), screen),
    ...besideLines(texts, { ours: layers[0], theirs: layers[1] }, screen),
    ...around(resolvedLines(place + 1).slice(0, CONTEXT_LINES), screen),
  ];
}

/** Three versions of a text: base above, ours and theirs beside each other where there is room. */
export function besideLines(texts: Texts, labels: Labels, screen: Screen): readonly string[] {
  const columns = widthOf(screen);
  const base = [
    rule('base', columns, 'dim', screen),
    ...linesOf(texts.base, columns - 2, screen).map((line) => painted(`  ${line}`, 'dim', screen)),
  ];
  const [ours, theirs] = [`ours: ${labels.ours}`, `theirs: ${labels.theirs}`];
  if (columns < BESIDE_COLUMNS) {
    return [
      ...base,
      rule(ours, columns, 'cyan', screen),
      ...linesOf(texts.ours, columns - 2, screen).map((line) => `  ${line}`),
      rule(theirs, columns, 'magenta', screen),
      ...linesOf(texts.theirs, columns - 2, screen).map((line) => `  ${line}`),
      rule('', columns, 'dim', screen),
    ];
  }
  const half = Math.floor((columns - 3) / 2);
  const left = linesOf(texts.ours, half, screen);
  const right = linesOf(texts.theirs, half, screen);
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
    [padded(left[at] ?? '', half), right[at] ?? ''].join(painted(' │ ', 'dim', screen)).trimEnd(),
  );
  const heads = `${rule(ours, half, 'cyan', screen)}${painted('─┬─', 'dim', screen)}${rule(theirs, half, 'magenta', screen)}`;
  const foot = painted(`${'─'.repeat(half)}─┴─${'─'.repeat(half)}`, 'dim', screen);
  return [...base, heads, ...rows, foot];
}

function rule(label: string, columns: number, colour: Colour, screen: Screen): string {
  const words = label === '' ? '' : `${cut(label, columns - 4)} `;
  const left = label === '' ? '' : '── ';
  const line = '─'.repeat(Math.max(0, columns - left.length - words.length));
  return (
    painted(left, 'dim', screen) + painted(words, colour, screen) + painted(line, 'dim', screen)
  );
}

function around(lines: readonly string[], screen: Screen): readonly string[] {
  return text(lines)
    .split('\n')
    .slice(0, lines.length)
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

// The merge works on bytes as latin1, so that none is lost; people read them as UTF-8.
function text(lines: readonly string[]): string {
  return Buffer.from(lines.join(''), 'latin1').toString('utf8');
}

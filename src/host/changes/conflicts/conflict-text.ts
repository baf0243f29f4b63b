import { oneLine, quoted } from '../quoted-text.ts';
import type { WaitingConflict } from '../waiting-operation.ts';

const SIDE_LINES = 6;
const BASE_LINES = 4;
const SHOWN_PLACES = 2;

type Place = WaitingConflict['places'][number];

/** Returns a conflict in a few lines: its place, the text before, and what each side wants. */
export function conflictText(conflict: WaitingConflict): string {
  const { path, places, layers, reason } = conflict;
  const [first] = places;
  const place = first === undefined ? `\`${path}\`` : placeText(path, first);
  return [`${place}, ${layers.join(' against ')}. ${reason}`, ...sidesText(conflict)].join('\n\n');
}

/** Returns one of several places in the same way. */
export function placeQuestion({ path, places, keeps }: WaitingConflict, at: number): string {
  const place = places[at];
  if (place === undefined) return '';
  const head = `Place ${at + 1} of ${places.length}: ${placeText(path, place)}, ${place.layers.join(' against ')}.`;
  return [head, ...placeSides(place, keeps)].join('\n\n');
}

function placeText(path: string, { line, declaration }: Place): string {
  const inside = declaration === null ? '' : ` in ${oneLine(declaration, 60)}`;
  return `\`${path}:${line}\`${inside}`;
}

function sidesText(conflict: WaitingConflict): readonly string[] {
  const { places, values, layers, sizes, keeps } = conflict;
  const ours = title(layers[0], keeps.ours);
  const theirs = title(layers[1], keeps.theirs);
  if (values !== null) {
    return [
      `${ours} ${inCode(valueText(values.ours))}`,
      `${theirs} ${inCode(valueText(values.theirs))}`,
    ];
  }
  if (places.length === 0)
    return [`${ours} ${sizeText(sizes.ours)}`, `${theirs} ${sizeText(sizes.theirs)}`];
  const shown = places.slice(0, SHOWN_PLACES).flatMap((place, at) => [
    ...(at > 0 ? [`And ${placeText(conflict.path, place)}:`] : []),
    // A note is about the file: said once, it stands for all places.
    ...placeSides(place, at === 0 ? keeps : { ours: null, theirs: null }),
  ]);
  const more = places.length - SHOWN_PLACES;
  return more > 0
    ? [...shown, `And ${more} more ${more === 1 ? 'place' : 'places'} in this file.`]
    : shown;
}

function placeSides(place: Place, keeps: WaitingConflict['keeps']): readonly string[] {
  const { base, layers, ours, theirs } = place;
  return [
    ...(base.trim() === '' ? [] : [`before:\n${quoted(base, BASE_LINES)}`]),
    `${title(layers[0], keeps.ours)}\n${linesText(ours)}`,
    `${title(layers[1], keeps.theirs)}\n${linesText(theirs)}`,
  ];
}

function title(layer: string, note: string | null): string {
  return note === null ? `${layer}:` : `${layer} (${oneLine(note, 140)}):`;
}

/** Returns a value as it is read and typed. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), 120);
}

function inCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

function linesText(text: string): string {
  return text === '' ? '(no lines)' : quoted(text, SIDE_LINES);
}

function sizeText(size: number | null): string {
  return size === null ? 'no such file' : `${size} bytes`;
}

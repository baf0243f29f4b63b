import { oneLine, quoted } from '../quoted.ts';
import type { WaitingConflict } from '../waiting.ts';

const SIDE_LINES = 6;
const BASE_LINES = 4;
const SHOWN_PLACES = 2;

type Place = WaitingConflict['places'][number];

/** Returns a conflict in a few lines: where it is, what was there, and what each side wants there. */
export function conflictText(conflict: WaitingConflict): string {
  const { path, places, layers, reason } = conflict;
  const [first] = places;
  const place = first === undefined ? `\`${path}\`` : placeText(path, first);
  return [`${place}, ${layers.join(' against ')}. ${reason}`, ...sidesText(conflict)].join('\n\n');
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
    ...(place.base.trim() === '' ? [] : [`before:\n${quoted(place.base, BASE_LINES)}`]),
    `${title(place.layers[0], at === 0 ? keeps.ours : null)}\n${linesText(place.ours)}`,
    `${title(place.layers[1], at === 0 ? keeps.theirs : null)}\n${linesText(place.theirs)}`,
  ]);
  const more = places.length - SHOWN_PLACES;
  return more > 0
    ? [...shown, `And ${more} more ${more === 1 ? 'place' : 'places'} in this file.`]
    : shown;
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

import type { Choice, Reply } from '../../contracts/question.ts';
import type { WaitingConflict } from '../waiting-operation.ts';

/** Returns the choices about a conflict: the rules that would resolve it first, by their numbers, and the way out last. */
export function choicesFor(conflict: WaitingConflict, hasModel: boolean): readonly Choice[] {
  const giveUp = { word: 'give up', label: 'give up: forget the change' };
  if (!conflict.decidable) {
    return [{ word: 'again', label: 'look again: I have moved it out of the way' }, giveUp];
  }
  return [
    ...conflict.ways.map(({ rule, label }) => ({
      word: sideWord(rule, conflict.takes) ?? rule,
      label,
    })),
    ...(conflict.values === null ? [] : [valueChoice]),
    ...(conflict.places.length > 1 ? [placesChoice] : []),
    ...conflict.candidates.map((to, at) => ({
      word: movedWord(at),
      label: `the release moved it to ${to}: carry the change over`,
    })),
    ...conflict.offers.slice(0, 1).map(({ key }) => ({
      word: 'recording',
      label: `as it was decided elsewhere (recording ${key})`,
    })),
    ...(hasModel ? [{ word: 'agent', label: 'let the agent try' }] : []),
    giveUp,
  ];
}

/** Returns the arguments of `claw resolve` for an answer; null if the conflict has no such choice. */
export function resolveArgs(
  conflict: WaitingConflict,
  { word, text }: Reply,
): readonly string[] | null {
  if (!choicesFor(conflict, true).some((choice) => choice.word === word)) return null;
  const { path } = conflict;
  const moved = conflict.candidates.find((_, at) => movedWord(at) === word);
  if (moved !== undefined) return ['resolve', path, '--moved', moved];
  const side = conflict.ways.find(({ rule }) => sideWord(rule, conflict.takes) === word);
  if (side !== undefined) return ['resolve', path, `--take=${word}`];
  if (conflict.ways.some(({ rule }) => rule === word)) return ['resolve', path, '--choose', word];
  switch (word) {
    case 'agent':
      return ['resolve', path, '--agent'];
    case 'recording':
      return ['resolve', path, '--recording', conflict.offers[0]?.key ?? ''];
    case 'value':
      // In one word, so that a value that begins with a dash is not taken for an option.
      return text === '' ? null : ['resolve', path, `--with=${text}`];
    default:
      return null;
  }
}

/** Returns the choices at one place of a conflict that is decided place by place. */
export function choicesAt(conflict: WaitingConflict, at: number): readonly Choice[] {
  const ways = conflict.places[at]?.ways ?? [];
  return [
    ...wordsOf(ways, conflict.places[at]?.layers).map((word, way) => ({
      word,
      label: ways[way]?.label ?? '',
    })),
    { word: 'whole', label: 'back: decide the file as a whole' },
    { word: 'give up', label: 'give up: forget the change' },
  ];
}

/** Returns the number of the choice that an answer made at a place, counted from 1; null if there is none. */
export function numberAt(conflict: WaitingConflict, at: number, { word }: Reply): number | null {
  const way = wordsOf(conflict.places[at]?.ways ?? [], conflict.places[at]?.layers).indexOf(word);
  return way === -1 ? null : way + 1;
}

/** A rule may stand twice, as `moved` may: the second is `moved 2`. */
function wordsOf(
  ways: WaitingConflict['places'][number]['ways'],
  layers: readonly string[] = [],
): readonly string[] {
  return ways.map(({ rule }, at) => {
    const side = sideWord(rule, layers);
    if (side !== null) return side;
    const same = ways.slice(0, at).filter((way) => way.rule === rule).length;
    return same === 0 ? rule : `${rule} ${same + 1}`;
  });
}

/** Sides go by their layers: a word such as `ours` could mean either, and an answer may be for several conflicts. */
function sideWord(rule: string, [ours, theirs]: readonly string[]): string | null {
  if (rule === 'ours') return ours ?? null;
  return rule === 'theirs' ? (theirs ?? null) : null;
}

/** `moved`, then `moved 2` and so on. */
function movedWord(at: number): string {
  return at === 0 ? 'moved' : `moved ${at + 1}`;
}

const valueChoice: Choice = {
  word: 'value',
  label: 'another value: say `value` and what it is',
  takesText: true,
};

/** Asks about one place after the other. */
export const PLACES = 'places';

const placesChoice: Choice = {
  word: PLACES,
  label: 'place by place: decide each for itself',
};

/** Returns the owner of a side with its verb, for a sentence: `telegram has`. */
export function holder(layer: string): string {
  if (layer === 'core') return 'the core has';
  if (layer === 'your edits') return 'you have';
  return layer === 'undo' ? 'the version before has' : `${layer} has`;
}

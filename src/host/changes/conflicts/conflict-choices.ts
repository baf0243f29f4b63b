import type { Choice, Reply } from '../../contracts/question.ts';
import type { WaitingConflict } from '../waiting.ts';
import { valueText } from './conflict-text.ts';

/** Returns the ways to resolve a conflict that `claw resolve` knows for its kind, and the way out. */
export function choicesFor(conflict: WaitingConflict, hasModel: boolean): readonly Choice[] {
  const giveUp = { word: 'give up', label: 'give up: forget the change' };
  if (!conflict.decidable) {
    return [{ word: 'again', label: 'look again: I have moved it out of the way' }, giveUp];
  }
  return [
    { word: 'ours', label: sideLabel(conflict, 'ours') },
    { word: 'theirs', label: sideLabel(conflict, 'theirs') },
    ...(conflict.values === null ? [] : [valueChoice]),
    ...(hasModel ? [{ word: 'agent', label: 'let the agent try' }] : []),
    giveUp,
    ...bothChoices(conflict),
    ...conflict.candidates.map((to, at) => ({
      word: movedWord(at),
      label: `the release moved it to ${to}: carry the change over`,
    })),
    ...conflict.offers.slice(0, 1).map(({ key }) => ({
      word: 'recording',
      label: `as it was decided elsewhere (recording ${key})`,
    })),
  ];
}

/** Returns the arguments of `claw resolve` for an answer; null where the conflict has no such choice. */
export function resolveArgs(
  conflict: WaitingConflict,
  { word, text }: Reply,
): readonly string[] | null {
  if (!choicesFor(conflict, true).some((choice) => choice.word === word)) return null;
  const { path } = conflict;
  const moved = conflict.candidates.find((_, at) => movedWord(at) === word);
  if (moved !== undefined) return ['resolve', path, '--moved', moved];
  switch (word) {
    case 'ours':
    case 'theirs':
    case 'agent':
      return ['resolve', path, `--${word}`];
    case 'both':
      return ['resolve', path, '--both', 'ours'];
    case 'reversed':
      return ['resolve', path, '--both', 'theirs'];
    case 'recording':
      return ['resolve', path, '--recording', conflict.offers[0]?.key ?? ''];
    case 'value':
      // In one word, so that a value that begins with a dash is not taken for an option.
      return text === '' ? null : ['resolve', path, `--with=${text}`];
    default:
      return null;
  }
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

function sideLabel({ layers, sizes, values, hunks }: WaitingConflict, side: 'ours' | 'theirs') {
  const verb = side === 'ours' ? 'keep' : 'take';
  const layer = layers[side === 'ours' ? 0 : 1];
  if (values !== null) return `${verb} ${whose(layer)}: ${valueText(values[side])}`;
  if (hunks.length === 0 && sizes[side] === null) {
    return side === 'ours'
      ? `leave the file deleted, as ${holder(layer)} it`
      : `delete the file, as ${holder(layer)} it`;
  }
  return `${verb} ${whose(layer)}`;
}

function bothChoices({ layers, hunks }: WaitingConflict): readonly Choice[] {
  if (!hunks.some(({ ours, theirs }) => ours !== '' && theirs !== '')) return [];
  const [ours, theirs] = layers;
  return [
    { word: 'both', label: `both, ${whose(ours)} first` },
    { word: 'reversed', label: `both, ${whose(theirs)} first` },
  ];
}

/** Returns the owner of a side with its verb, for a sentence: `telegram has`. */
export function holder(layer: string): string {
  if (layer === 'core') return 'the core has';
  if (layer === 'your edits') return 'you have';
  return layer === 'undo' ? 'the version before has' : `${layer} has`;
}

function whose(layer: string): string {
  if (layer === 'core') return "the core's";
  if (layer === 'your edits') return 'yours';
  return layer === 'undo' ? 'what was there before' : `${layer}'s`;
}

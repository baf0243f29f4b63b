import { expect, test } from 'vitest';
import type { WaitingConflict } from '../waiting-operation.ts';
import { choicesFor, resolveArgs } from './conflict-choices.ts';

const GONE: WaitingConflict = {
  path: 'src/a.ts',
  kind: 'modify-delete',
  layers: ['core', 'telegram'],
  reason: 'telegram changes this file, but core does not have it.',
  hunks: [],
  decision: null,
  decided: false,
  decidable: true,
  takes: ['release', 'telegram'],
  text: null,
  edited: false,
  places: [],
  keeps: { ours: null, theirs: null },
  ways: [
    { rule: 'ours', label: 'leave the file deleted, as the core has it' },
    { rule: 'theirs', label: "take telegram's" },
  ],
  sizes: { ours: null, theirs: 10 },
  values: null,
  notes: null,
  offers: [],
  candidates: ['lib/a.ts', 'lib/b.ts'],
};

test('a file that the release may have moved can be followed to each place that is likely', () => {
  const words = choicesFor(GONE, false).map(({ word }) => word);
  expect(words).toEqual(['release', 'telegram', 'moved', 'moved 2', 'give up']);
  const said = (word: string) => resolveArgs(GONE, { word, text: '', isForAll: false });
  expect(said('moved')).toEqual(['resolve', 'src/a.ts', '--moved', 'lib/a.ts']);
  expect(said('moved 2')).toEqual(['resolve', 'src/a.ts', '--moved', 'lib/b.ts']);
  expect(said('moved 3')).toBe(null);
  expect(said('telegram')).toEqual(['resolve', 'src/a.ts', '--take=telegram']);
  expect(said('theirs')).toBe(null);
});

test('if no place is likely, none is offered', () => {
  const conflict = { ...GONE, candidates: [] };
  expect(choicesFor(conflict, false).map(({ word }) => word)).not.toContain('moved');
  expect(resolveArgs(conflict, { word: 'moved', text: '', isForAll: false })).toBe(null);
});

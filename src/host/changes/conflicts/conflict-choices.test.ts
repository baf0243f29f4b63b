import { expect, test } from 'vitest';
import type { WaitingConflict } from '../waiting.ts';
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
  text: null,
  edited: false,
  lines: [],
  sizes: { ours: null, theirs: 10 },
  values: null,
  notes: null,
  offers: [],
  candidates: ['lib/a.ts', 'lib/b.ts'],
};

test('a file that the release may have moved can be followed to each place that is likely', () => {
  const words = choicesFor(GONE, false).map(({ word }) => word);
  expect(words).toEqual(['ours', 'theirs', 'give up', 'moved', 'moved 2']);
  const said = (word: string) => resolveArgs(GONE, { word, text: '', isForAll: false });
  expect(said('moved')).toEqual(['resolve', 'src/a.ts', '--moved', 'lib/a.ts']);
  expect(said('moved 2')).toEqual(['resolve', 'src/a.ts', '--moved', 'lib/b.ts']);
  expect(said('moved 3')).toBe(null);
});

test('where nothing is likely, nothing of that is offered', () => {
  const conflict = { ...GONE, candidates: [] };
  expect(choicesFor(conflict, false).map(({ word }) => word)).not.toContain('moved');
  expect(resolveArgs(conflict, { word: 'moved', text: '', isForAll: false })).toBe(null);
});

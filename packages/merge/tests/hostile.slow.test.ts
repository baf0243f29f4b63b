import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../../src/testing/growth.ts';
import { mergeText } from '../src/merge-text.ts';
import { HOSTILE } from '../testing/hostile.ts';

// Four times as many are the 20,000 lines that took over a second.
const LINES = 5_000;
const PATHS = ['a.ts', 'a.json', 'a.yaml', 'a.md', '.env'];

test.each(Object.keys(HOSTILE))(
  'whatever the file is called, four times the lines cost no more than that: %s',
  (name) => {
    const make = HOSTILE[name];
    if (make === undefined) throw new Error(`there is no input called ${name}`);
    const cost = costOfFourfold(LINES, (lines) => {
      const versions = make(lines);
      return () => PATHS.map((path) => mergeText(versions, { path }));
    });
    expect(cost).toBeLessThan(LINEAR_AT_MOST);
  },
);

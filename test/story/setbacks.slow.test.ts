import { afterAll, beforeAll, expect, test } from 'vitest';
import { addSkill } from '../../src/testing/claw/codebase.ts';
import { Assistant } from './assistant.ts';
import { type Clone, cloneRepository } from './clone.ts';

const SHARED = 'src/config.ts';
const MINUTES = 15 * 60_000;

let clone: Clone;
let assistant: Assistant;

beforeAll(async () => {
  clone = cloneRepository();
  assistant = await Assistant.start(clone);
});
afterAll(async () => {
  await assistant?.stop();
  await clone?.[Symbol.asyncDispose]();
});

test(
  'a skill whose lines the owner has changed names file and sides, and leaves everything as it was',
  async () => {
    const released = clone.read(SHARED);
    // Any docstring will do; this one has a line of its own.
    const [place = ''] = /^ {2}\/\*\* .+$/m.exec(released) ?? [];
    expect(place).not.toBe('');
    addSkill(clone, 'hurried', {
      core: '0.1.0',
      modify: {
        [SHARED]: [released, released.replace(place, `  /** Hurried: ${place.trim().slice(4)}`)],
      },
    });
    clone.write({
      [SHARED]: released.replace(place, `  /** Mine: ${place.trim().slice(4)}`),
    });
    const before = clone.code();
    const state = clone.state();
    const told = await assistant.ask('/add-hurried');
    expect(told).toMatch(/^`src\/config\.ts:\d+`(?: in .+)?, your edits against hurried\./);
    expect(told).toContain(
      "1. keep yours\n2. take hurried's\n3. both: yours first\n4. both: hurried's first\n5. give up: forget the change",
    );
    expect(clone.code()).toEqual(before);
    expect(clone.state()).toEqual(state);
    expect(await assistant.ask('yes')).toContain('There is no key for the model yet');
    expect(clone.code()).toEqual(before);
    clone.write({ [SHARED]: released });
  },
  MINUTES,
);

test(
  'a tree that does not come up is taken back, and the owner is told why by the old one',
  async () => {
    addSkill(clone, 'broken', {
      core: '0.1.0',
      add: { 'src/channels/broken.ts': "throw new Error('the stars are wrong');\n" },
      tests: {
        'tests/fine.test.ts': "import { test } from 'vitest';\ntest('is fine', () => {});\n",
      },
    });
    const before = clone.code();
    expect(await assistant.ask('/add-broken')).toContain('- files: 1 new (src/channels/broken.ts)');
    const told = await assistant.ask('yes');
    expect(told).toContain('test: broken');
    expect(told).toContain('Adding broken was taken back: the assistant did not come up with it.');
    expect(told).toContain('the stars are wrong');
    expect(clone.code()).toEqual(before);

    expect(await assistant.ask('/status')).toContain('code: the release as it came, no skills');
    // What failed once is not tried again behind the owner's back.
    expect(await assistant.ask('/restart')).toBe('Andy is back.');
    expect(await assistant.end()).toBe(0);
  },
  MINUTES,
);

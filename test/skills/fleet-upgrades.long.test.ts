import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../../src/testing/engine.ts';
import { type Clone, cloneWithoutProof, runThere } from '../story/clone.ts';

const MINUTES = 20 * 60_000;

await describeWithEngine('docker', 'a tree with the skill', () => {
  let clone: Clone;
  beforeAll(async () => {
    clone = cloneWithoutProof();
    const { json } = await clone.claw('apply', 'fleet');
    expect(json.error).toBeNull();
  }, MINUTES);
  afterAll(() => clone?.[Symbol.asyncDispose]());

  // Its proof skips those that need Docker.
  test(
    'passes the skill’s own tests, kills in the middle of upgrades among them',
    async () => {
      const command = ['node_modules/.bin/vitest', 'run', '--no-isolate', 'skills/fleet/tests'];
      const { code, stdout } = await runThere(clone.root, [clone.nodePath, ...command]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('0 failed, 0 skipped')]);
    },
    MINUTES,
  );
});

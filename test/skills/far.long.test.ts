import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../../src/testing/engine.ts';
import { type Clone, cloneWithoutProof, runThere } from '../story/clone.ts';

// `.ci/run` installs them; a daemon in a network of its own needs root.
const PROGRAMS = ['nats-server', 'openssl', 'ip', 'ss', 'nsenter', 'docker', 'dockerd', 'bwrap'];
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
const MISSING = [
  ...PROGRAMS.filter((name) => !FOLDERS.some((folder) => existsSync(join(folder, name)))),
  ...(process.getuid?.() === 0 ? [] : ['root']),
];
const MINUTES = 40 * 60_000;

test.runIf(process.env['CLAW_REQUIRE_ENGINE'] === '1')('what other machines need is there', () => {
  expect(MISSING).toEqual([]);
});

if (MISSING.length === 0) {
  await describeWithEngine('docker', 'a tree with the skill', () => {
    let clone: Clone;
    beforeAll(async () => {
      clone = cloneWithoutProof();
      const { json } = await clone.claw('apply', 'far');
      expect(json.error).toBeNull();
    }, MINUTES);
    afterAll(() => clone?.[Symbol.asyncDispose]());

    // Its proof has to skip most of them: containers do not nest in it.
    test(
      'passes the skill’s own tests, each of them, with real servers, links and daemons',
      async () => {
        const command = ['node_modules/.bin/vitest', 'run', '--no-isolate', 'skills/far/tests'];
        const { code, stdout } = await runThere(clone.root, [clone.nodePath, ...command]);
        expect([code, stdout]).toEqual([0, expect.stringContaining('0 failed, 0 skipped')]);
      },
      MINUTES,
    );
  });
}

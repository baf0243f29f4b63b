import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const TESTS = join(import.meta.dirname, '../../skills/chipclaw/tests/cpython');
const isThere = await run('python3', [
  '-c',
  'import sys, requests; assert sys.version_info >= (3, 10)',
]).then(
  () => true,
  () => false,
);
const isRequired = process.env['CLAW_REQUIRE_ENGINE'] === '1';

// The device's own code under CPython; under MicroPython the tests of the skill run it.
test.skipIf(!isThere && !isRequired)('the unit tests of ChipClaw pass under CPython', async () => {
  const { stderr } = await run('python3', ['-B', '-m', 'unittest', 'discover', '-s', TESTS]);
  const [, count] = /^Ran (\d+) tests[\s\S]*^OK$/m.exec(stderr) ?? [];
  expect(Number(count)).toBeGreaterThanOrEqual(40);
});

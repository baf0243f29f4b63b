import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const TREE = join(import.meta.dirname, '../../..');

function claw(...args: readonly string[]): string {
  const environment = { PATH: process.env['PATH'], TIDES_HIGH: '2026-11-22T06:00:00Z' };
  const command = [join(TREE, 'bin/claw.js'), '--cwd', TREE, ...args];
  return execFileSync(process.execPath, command, { encoding: 'utf8', env: environment });
}

test('the verb tells the next tides, to people and to programs', () => {
  expect(claw('tides', '--next', '3')).toMatch(/^(\S+Z (high|low) water\n){3}$/);
  const { ok, verb, data } = JSON.parse(claw('tides', '--json'));
  expect({ ok, verb }).toEqual({ ok: true, verb: 'tides' });
  expect(data.map(({ water }: { water: string }) => water).sort()).toEqual(['high', 'low']);
});

test('help lists it beside the other verbs', () => {
  expect(claw('--help')).toMatch(/tides .*when the water is high and low/);
});

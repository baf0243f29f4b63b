import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { benchIdle } from '../scripts/bench/idle.ts';
import { benchLarge } from '../scripts/bench/large.ts';
import { describeWithEngine } from '../src/testing/engine.ts';

const ROOT = join(import.meta.dirname, '..');

// Both lay out code of their own beside the product's, which no compiler holds together.
await describeWithEngine('docker', 'the measurements that no compiler checks still run', () => {
  test('a warm container', async () => {
    const words = ['scripts/bench/warm.ts', '1'];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: ROOT });
    expect(stdout).toMatch(/^ {2}whatsapp +[\d.]+ ms, p99 [\d.]+ ms/m);
  });

  test('idling', async () => {
    expect((await benchIdle(1))?.processes).toHaveLength(2);
  });
});

test('commands on many files, each with its peak of memory and where its time goes', async () => {
  const { rows } = await benchLarge(1, { files: 520, skills: 4 });
  expect(rows).toHaveLength(9);
  for (const { name, peakMb, phases } of rows) {
    expect(peakMb, name).toBeLessThan(150);
    expect(phases.map(([phase]) => phase)).toContain('loading');
  }
});

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { historyFile } from './history.ts';

test('the history is for its owner only, and terminals do not undo each other’s', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claw-history-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'history');
  const [one, other] = [historyFile(path), historyFile(path)];
  expect(one.read()).toEqual([]);
  one.add('first');
  other.add('second');
  one.add('third');
  other.add('first');
  expect(one.read()).toEqual(['first', 'third', 'second']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

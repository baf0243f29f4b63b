import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');

/** Returns the evening's tour of ARCHITECTURE.md. */
function readTour(): string {
  return (
    readFileSync(join(HOME, 'ARCHITECTURE.md'), 'utf8').split("## An evening's tour\n")[1] ?? ''
  );
}

test('the evening’s tour names files that are there, in consecutive steps', () => {
  const tour = readTour();
  const named = [...tour.matchAll(/`((?:packages|src|container)\/[^`]+)`/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(HOME, path)))).toEqual([]);
  const steps = [...tour.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
  expect(steps).toEqual(steps.map((_, at) => at + 1));
  expect(tour).toContain(steps.length === 20 ? 'Twenty files' : `${steps.length} files`);
});

test('the evening’s tour is about as long as it says', () => {
  const tour = readTour();
  const said = Number(/some ([\d,]+) lines/.exec(tour)?.[1]?.replace(',', ''));
  const files = [...tour.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path);
  // Of the last one only what its step names is read.
  const lines = files
    .slice(0, -1)
    .map((path) => readFileSync(join(HOME, path), 'utf8').split('\n').length - 1)
    .reduce((sum, one) => sum + one, 0);
  expect(lines).toBeGreaterThan(said * 0.9);
  expect(lines).toBeLessThan(said * 1.1);
});

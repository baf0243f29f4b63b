import { expect, test } from 'vitest';
import { namesOfReleases } from './changing-verbs.ts';

const release = (version: string | null, commit: string | null) => ({ version, commit });
const OLD = 'a1b2c3d4e5f6';
const NEW = '0123456789ab';

test('releases are named by their versions, and by their commits where those are the same', () => {
  const named = (from: string | null, to: string | null) =>
    namesOfReleases({ from: release(from, OLD), to: release(to, NEW) }).join(' → ');
  expect(named('1.0.0', '2.0.0')).toBe('1.0.0 → 2.0.0');
  expect(named(null, '2.0.0')).toBe('without a version → 2.0.0');
  expect(named('1.0.0', '1.0.0')).toBe('1.0.0 (a1b2c3d) → 1.0.0 (0123456)');
  expect(namesOfReleases({ from: release('1.0.0', null), to: release('1.0.0', NEW) })[0]).toBe(
    '1.0.0',
  );
});

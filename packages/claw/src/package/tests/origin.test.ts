import { expect, test } from 'vitest';
import { changeDigest } from '../origin.ts';
import { packageFiles } from '../package-fixture.ts';
import { packageFromFiles } from '../package-from-files.ts';

/** As an engine recorded it that knew no optional settings. */
const RECORDED = 'sha256:56ff4283390cd20e9e6015d62ce4f1326671a779188e15424522f62cc61e5d35';

function digestWith(more: Readonly<Record<string, unknown>>): string {
  const url = { name: 'DEMO_URL', example: 'http://x', ...more };
  const structured = { env_additions: ['DEMO_TOKEN', url] };
  const files = packageFiles({ add: { 'src/a.ts': 'a\n' }, manifest: { structured } });
  return changeDigest(packageFromFiles(files, { protectedPaths: [] }));
}

test('a package with settings that an earlier engine packed has the digest that was recorded then', () => {
  expect(digestWith({})).toBe(RECORDED);
  expect(digestWith({ optional: false })).toBe(RECORDED);
  expect(digestWith({ optional: true })).not.toBe(RECORDED);
});

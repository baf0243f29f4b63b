import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findBundle, makeBundle } from './bundle.js';

const homes: string[] = [];

afterEach(() => {
  for (const home of homes.splice(0)) fs.rmSync(home, { recursive: true });
});

/** A home whose sources have been left alone long enough. */
async function joinedHome(): Promise<{ home: string; cache: string }> {
  const home = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'claw-bundle-')));
  homes.push(home);
  const cache = join(home, 'node_modules/.cache/patchclaw');
  fs.mkdirSync(join(home, 'src/cli'), { recursive: true });
  fs.mkdirSync(join(home, 'node_modules'));
  fs.writeFileSync(join(home, 'package.json'), '{"type":"module","dependencies":{}}');
  fs.writeFileSync(
    join(home, 'src/place.ts'),
    'export const place: string = import.meta.dirname;\n',
  );
  const main = "import { place } from '../place.ts';\nexport const main = (): string => place;\n";
  fs.writeFileSync(join(home, 'src/cli/main.ts'), main);
  await makeBundle(home, cache, Date.now() + 60_000);
  return { home, cache };
}

test('the command in one file does what its sources do, and knows where they lie', async () => {
  const { home, cache } = await joinedHome();
  const { main } = await import(/* @vite-ignore */ findBundle(home, cache) ?? '');
  expect(main()).toBe(join(home, 'src'));
});

test('a changed source counts at once, even with its size and time as they were', async () => {
  const { home, cache } = await joinedHome();
  const path = join(home, 'src/place.ts');
  const { atime, mtime } = fs.statSync(path);
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace('dirname', 'dirnamE'));
  fs.utimesSync(path, atime, mtime);
  expect(findBundle(home, cache)).toBeNull();
});

test('a source that is gone, a damaged bundle, another home: the sources count', async () => {
  const { home, cache } = await joinedHome();
  expect(findBundle(join(home, '../other'), cache)).toBeNull();
  const [bundle = ''] = fs.readdirSync(cache).filter((name) => name.endsWith('.mjs'));
  fs.truncateSync(join(cache, bundle), 10);
  expect(findBundle(home, cache)).toBeNull();
  fs.rmSync(join(home, 'src/place.ts'));
  expect(findBundle(home, cache)).toBeNull();
});

test('sources that somebody is working on are not joined', async () => {
  const { home, cache } = await joinedHome();
  fs.rmSync(cache, { recursive: true });
  await makeBundle(home, cache);
  expect(findBundle(home, cache)).toBeNull();
});

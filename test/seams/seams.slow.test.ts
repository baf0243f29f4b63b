import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Clone, cloneRepository, type Snapshot } from '../story/clone.ts';

const HOME = join(import.meta.dirname, '../..');
const PACKAGES = join(import.meta.dirname, 'packages');
const NAMES = readdirSync(PACKAGES).sort();
// What a feature needs of the core is tested here; the core's own tests run beside this one.
const PROOF = ['--proof', 'skills'];
/** The one file that several write to: settings are merged there by name. */
const SHARED = ['.env.example'];

let clone: Clone;
let released: Snapshot;

beforeAll(() => {
  clone = cloneRepository();
  // One of these has the name of a skill that comes along.
  for (const name of NAMES) rmSync(clone.path(`skills/${name}`), { recursive: true, force: true });
  cpSync(PACKAGES, clone.path('skills'), { recursive: true });
  released = clone.code();
});
afterAll(() => clone?.[Symbol.asyncDispose]());

/** A package's files below one of its folders, by path. */
function filesOf(name: string, folder: 'add' | 'tests'): Readonly<Record<string, string>> {
  const root = join(PACKAGES, name, folder);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((it) =>
    it.isFile(),
  );
  return Object.fromEntries(
    files.map((it) => {
      const path = join(it.parentPath, it.name);
      return [path.slice(root.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

/** Paths of the core that are not as they were released. */
function touched(now: Snapshot): readonly string[] {
  return Object.keys(released).filter((path) => now[path] !== released[path]);
}

test('a feature of each kind is new files alone: all together are applied, and their tests pass', async () => {
  const run = await clone.claw('apply', ...NAMES, ...PROOF);
  expect(run.json.error).toBeNull();
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done', warnings: [], conflicts: [] } });
  // The tests of eight skills run at a time.
  for (let at = 0; at < NAMES.length; at += 8) {
    expect(run.stderr).toContain(`test: ${NAMES.slice(at, at + 8).join(', ')}\n`);
  }
  const now = clone.code();
  expect(touched(now)).toEqual(SHARED);
  for (const name of NAMES) expect(now).toMatchObject(filesOf(name, 'add'));
});

test('half of them pass their tests without the others, and all removed leave the release', async () => {
  const odd = NAMES.filter((_, at) => at % 2 === 1);
  const even = NAMES.filter((_, at) => at % 2 === 0);
  for (const names of [odd, even]) {
    const run = await clone.claw('remove', ...names, ...PROOF);
    expect(run.json.error).toBeNull();
    expect(run).toMatchObject({ code: 0, json: { warnings: [], conflicts: [] } });
  }
  expect(clone.code()).toEqual(released);
});

test.each(NAMES)('the settings of %s are those that its manifest adds to .env.example', (name) => {
  const manifest = parse(readFileSync(join(PACKAGES, name, 'manifest.yaml'), 'utf8'));
  const added: { name: string }[] = manifest.structured?.env_additions ?? [];
  const read = Object.values(filesOf(name, 'add')).flatMap((text) =>
    [
      ...text.matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+): (?:z\.|NameList|Address|wholeNumber)/g),
    ].map(([, setting]) => setting),
  );
  expect(added.map((setting) => setting.name).sort()).toEqual([...new Set(read)].sort());
  expect(manifest.modifies).toEqual([]);
});

/** The examples of a page of docs/, by the path in their first line. */
function examplesIn(page: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(HOME, 'docs', page), 'utf8');
  const shown = [...text.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)];
  return Object.fromEntries(shown.map(([, path = '', code = '']) => [path, code]));
}

test('the examples of docs/extending.md and docs/writing-a-channel.md are files of these packages', () => {
  const { 'tests/raven.test.ts': ownTest, ...channel } = examplesIn('writing-a-channel.md');
  // The page leads to the files of the gull, which are longer than an example on a page.
  const onPages = NAMES.filter((name) => name !== 'gull');
  const packaged = Object.assign({}, ...onPages.map((name) => filesOf(name, 'add')));
  const { 'tests/one-call.test.ts': toolTest, ...shown } = examplesIn('extending.md');
  expect({ ...shown, ...channel }).toEqual(packaged);
  expect(toolTest).toBe(filesOf('web-search', 'tests')['one-call.test.ts']);
  expect(ownTest).toBe(filesOf('raven', 'tests')['raven.test.ts']);
  expect(channel['src/channels/raven.ts']?.split('\n').length).toBeLessThan(100);
});

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { discoverExports } from './discover.ts';

const Bird = z.object({ name: z.string(), wings: z.literal(2) });

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'claw-discover-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const birdOf = (name: string) => `{ name: '${name}', wings: 2 }`;

test('exports are discovered in the order of file names; files that are parts of others are not', async () => {
  const folder = folderOf({
    'b.ts': `export const bird = ${birdOf('jay')};`,
    'a.ts': `export const bird = ${birdOf('owl')};`,
    'a.test.ts': 'throw new Error();',
    'part.ts':
      "export const wings = 2; export function name() {} export const like = { name: 'x' };",
  });
  const birds = await discoverExports(folder, 'bird', Bird);
  expect(birds.map(({ name }) => name)).toEqual(['owl', 'jay']);
});

test('a room of a folder is looked through as the folder is, and no other folder in it', async () => {
  const folder = folderOf({
    'jay.ts': `export const bird = ${birdOf('jay')};`,
    'night/owl.ts': `export const bird = ${birdOf('owl')};`,
    'jay/part.ts': 'throw new Error();',
  });
  const find = () => discoverExports(folder, 'bird', Bird, ['night', 'none']);
  expect((await find()).map(({ name }) => name)).toEqual(['jay', 'owl']);
  writeFileSync(join(folder, 'night/twin.ts'), `export const bird = ${birdOf('jay')};`);
  await expect(find()).rejects.toThrow(/jay\.ts and .*twin\.ts are both called "jay"/);
});

test.each([
  [`export const birds = ${birdOf('owl')};`, 'exports "birds", which has to be called "bird".'],
  ["export const bird = { name: 'owl' };", 'its export "bird" does not fit: wings'],
])('%s is refused with the name of the file', async (text, reason) => {
  const folder = folderOf({ 'owl.ts': text });
  const refusal = discoverExports(folder, 'bird', Bird);
  await expect(refusal).rejects.toThrow(`${join(folder, 'owl.ts')}`);
  await expect(refusal).rejects.toThrow(reason);
});

test('a file that cannot be parsed is refused with its name', async () => {
  const folder = folderOf({ 'owl.ts': 'export const bird = {' });
  // Node reads it: the test runner's own import says it otherwise.
  const script =
    `import { discoverExports } from ${JSON.stringify(import.meta.resolve('./discover.ts'))};` +
    `await discoverExports(${JSON.stringify(folder)}, 'bird', {}).catch(({ message }) => console.log(message));`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    script,
  ]);
  expect(stdout).toContain(`${join(folder, 'owl.ts')} cannot be read: `);
});

test('a file that throws while it is loaded is named with the line', async () => {
  const folder = folderOf({ 'owl.ts': "export const one = 1;\nthrow new Error('no luck');" });
  const file = join(folder, 'owl.ts');
  await expect(discoverExports(folder, 'bird', Bird)).rejects.toThrow(
    `${file} cannot be loaded: no luck (line 2)`,
  );
});

test('two of one name are refused, and both are named', async () => {
  const text = `export const bird = ${birdOf('owl')};`;
  const folder = folderOf({ 'a.ts': text, 'b.ts': text });
  await expect(discoverExports(folder, 'bird', Bird)).rejects.toThrow(
    `${join(folder, 'a.ts')} and ${join(folder, 'b.ts')} are both called "owl". Rename one of them.`,
  );
});

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jpegOf, pngOf, webpOf } from '../../src/testing/pictures.ts';
import { readPicture } from './picture.ts';
import { pictureHead } from './picture-head.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'claw-picture-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function read(content: Buffer) {
  const path = join(dir, 'picture.bin');
  await writeFile(path, content);
  const { data, ...rest } = await readPicture(path);
  return { ...rest, data: Buffer.from(data) };
}

test('a picture that a model takes goes on as it is, by its content and not its name', async () => {
  const size = { width: 60, height: 40 };
  for (const [content, mediaType] of [
    [pngOf(size), 'image/png'],
    [jpegOf(size), 'image/jpeg'],
    [webpOf(size), 'image/webp'],
  ] as const) {
    expect(await read(content)).toEqual({ ...size, mediaType, data: content });
  }
});

test('a larger one is scaled down, in its proportions', async () => {
  const size = { width: 3_136, height: 800 };
  const drawn = await read(pngOf(size));
  expect(drawn).toMatchObject({ mediaType: 'image/png', width: 1_568, height: 400 });
  expect(pictureHead(drawn.data)).toEqual({ mediaType: 'image/png', width: 1_568, height: 400 });
  const photo = await read(jpegOf(size));
  expect(pictureHead(photo.data)).toEqual({ mediaType: 'image/jpeg', width: 1_568, height: 400 });
  const web = await read(webpOf({ width: 20, height: 2_000 }));
  expect(pictureHead(web.data)).toEqual({ mediaType: 'image/jpeg', width: 16, height: 1_568 });
});

test('what is no picture, damaged, a bomb or too large is refused with its reason', async () => {
  const refused = async (content: Buffer) =>
    await read(content).catch((error: unknown) => (error as Error).message);
  expect(await refused(Buffer.from('hello'))).toBe('it is no JPEG, PNG, WebP or GIF picture');
  expect(await refused(Buffer.from('<svg onload="alert(1)"/>'))).toContain('it is no JPEG');
  expect(await refused(Buffer.alloc(0))).toContain('it is no JPEG');
  expect(await refused(pngOf({ width: 30_000, height: 30_000 }, Buffer.alloc(1_000_000)))).toBe(
    'it has 30000 x 30000 pixels, and 40 million are the most',
  );
  expect(await refused(pngOf({ width: 300, height: 300 }, Buffer.alloc(10)))).toContain(
    'it is damaged',
  );
  expect(await refused(jpegOf({ width: 300, height: 300 }).subarray(0, 700))).toContain(
    'it is damaged',
  );
  expect(await refused(webpOf({ width: 300, height: 300 }).subarray(0, 60))).toContain(
    'it is damaged',
  );
  const path = join(dir, 'large.png');
  await writeFile(path, pngOf({ width: 3, height: 3 }));
  await truncate(path, 50_000_000);
  await expect(readPicture(path)).rejects.toThrow('it is larger than 30 MB');
  await expect(readPicture(join(dir, 'none'))).rejects.toThrow('it is not there any more');
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  await expect(readPicture(join(dir, 'pipe'))).rejects.toThrow('it is not there any more');
});

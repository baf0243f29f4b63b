import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import photon from '@silvia-odwyer/photon-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jpegOf, pngOf, webpOf } from '../../../src/testing/pictures.ts';
import { readPicture } from './picture.ts';
import { pictureHead } from './picture-head.ts';
import { upright } from './upright.ts';

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

/** Writes into a JPEG how its camera was held. */
function heldAs(orientation: number, jpeg: Buffer): Buffer {
  const tiff = Buffer.from('4d4d002a000000080001011200030000000100000000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const segment = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), segment, exif, jpeg.subarray(2)]);
}

test('a photo is upright, however its camera was held', async () => {
  const photo = jpegOf({ width: 250, height: 40 });
  expect(await read(heldAs(1, photo))).toMatchObject({ width: 250, height: 40 });
  const reds = async (orientation: number) => {
    const { data, width, height } = await read(heldAs(orientation, photo));
    const pixels = photon.PhotonImage.new_from_byteslice(data).get_raw_pixels();
    const red = (x: number, y: number) => Math.round((pixels[(y * width + x) * 4] ?? 0) / 50);
    return [width, height, red(2, 2), red(width - 3, 2), red(2, height - 3)];
  };
  // Red grows from 0 at the left to 250 at the right.
  expect(await reds(3)).toEqual([250, 40, 5, 0, 5]);
  expect(await reds(6)).toEqual([40, 250, 0, 0, 5]);
  expect(await reds(8)).toEqual([40, 250, 5, 5, 0]);
  const large = heldAs(6, jpegOf({ width: 3_136, height: 800 }));
  expect(await read(large)).toMatchObject({ width: 400, height: 1_568 });
});

test('corners go where they belong, at each way to hold a camera', () => {
  // 1 2 3
  // 4 5 6
  const data = new Uint8Array(Uint32Array.of(1, 2, 3, 4, 5, 6).buffer);
  const turned = [2, 3, 4, 5, 6, 7, 8].map((orientation) => {
    const made = upright({ data, width: 3, height: 2 }, orientation);
    return [made.width, ...new Uint32Array(made.data.buffer)].join(' ');
  });
  expect(turned).toEqual([
    '3 3 2 1 6 5 4',
    '3 6 5 4 3 2 1',
    '3 4 5 6 1 2 3',
    '2 1 4 2 5 3 6',
    '2 4 1 5 2 6 3',
    '2 6 3 5 2 4 1',
    '2 3 6 2 5 1 4',
  ]);
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

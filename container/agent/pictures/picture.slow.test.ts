import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import photon from '@silvia-odwyer/photon-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pictureHead } from '../../../src/lib/picture-head.ts';
import { jpegOf, pngOf, webpOf } from '../../../src/testing/pictures.ts';
import { inOwnProcess } from '../files/in-own-process.ts';
import { type PictureForModel, readPicture } from './picture.ts';
import { upright } from './upright-picture.ts';

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

test('a picture that every model takes goes on as it is, by its content and not its name', async () => {
  const size = { width: 60, height: 40 };
  for (const [content, mediaType] of [
    [pngOf(size), 'image/png'],
    [jpegOf(size), 'image/jpeg'],
  ] as const) {
    expect(await read(content)).toEqual({ ...size, mediaType, data: content });
  }
});

test('a kind that some servers refuse, or show wrong, is drawn anew', async () => {
  const size = { width: 60, height: 40 };
  expect(await read(webpOf(size))).toMatchObject({ ...size, mediaType: 'image/png' });
  const deep = pngOf({ ...size, bits: 16 }, Buffer.alloc(40 * (1 + 60 * 6)));
  const { data } = await read(deep);
  expect([pictureHead(deep), pictureHead(data)]).toMatchObject([
    { isCommon: false },
    { isCommon: true },
  ]);
  const gif = Buffer.from('GIF89a\x10\0\x10\0\0\0\0', 'latin1');
  const cmyk = Buffer.from('ffd8ffc000140800100010040111000211000311000411', 'hex');
  for (const head of [gif, cmyk]) expect(pictureHead(head)).toMatchObject({ isCommon: false });
});

test('a picture that is all noise becomes small enough, and its transparent parts become white', async () => {
  const noise = Uint8Array.from({ length: 60 * 60 * 4 }, (_, at) =>
    at % 4 === 3 ? 0 : (at * at * 7_919) >> 5,
  );
  const path = join(dir, 'noise');
  await writeFile(path, new photon.PhotonImage(noise, 60, 60).get_bytes());
  const input = { path, maxEdge: 60, maxBytes: 1_200 };
  const drawn = await inOwnProcess({ name: 'picture', input, timeoutMs: 60_000 });
  const { mediaType, data } = drawn as PictureForModel;
  expect(mediaType).toBe('image/jpeg');
  expect(data.length).toBeLessThan(1_200);
  const pixels = photon.PhotonImage.new_from_byteslice(data).get_raw_pixels();
  expect(Math.min(...pixels)).toBe(255);
});

test('a larger one is scaled down, in its proportions', async () => {
  const size = { width: 3_136, height: 800 };
  const drawn = await read(pngOf(size));
  expect(drawn).toMatchObject({ mediaType: 'image/png', width: 1_568, height: 400 });
  expect(pictureHead(drawn.data)).toMatchObject({ width: 1_568, height: 400 });
  const photo = await read(jpegOf(size));
  expect(pictureHead(photo.data)).toMatchObject({ mediaType: 'image/jpeg', width: 1_568 });
  const web = await read(webpOf({ width: 20, height: 2_000 }));
  expect(pictureHead(web.data)).toMatchObject({ mediaType: 'image/png', width: 16 });
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

test('a picture that is smaller than servers take is made larger', async () => {
  expect(await read(pngOf({ width: 1, height: 1 }))).toMatchObject({ width: 11, height: 11 });
  expect(await read(pngOf({ width: 20, height: 10 }))).toMatchObject({ width: 22, height: 11 });
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
  expect(await refused(pngOf({ width: 1, height: 100_000 }))).toBe(
    'it is too narrow for a model, with 1 x 100000 pixels',
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

import { expect, test } from 'vitest';
import { keepPictures } from './kept-pictures.ts';

test('pictures are decoded one at a time, and the last ones are kept', async () => {
  const read: string[] = [];
  let atOnce = 0;
  const keep = keepPictures(async (path) => {
    atOnce += 1;
    expect(atOnce).toBe(1);
    read.push(path);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce -= 1;
    if (path === 'bad' && read.length < 4) throw new Error('it is damaged');
    return { mediaType: 'image/png', data: Buffer.from(path), width: 1, height: 1 };
  }, 2);
  const all = await Promise.allSettled([keep('a'), keep('bad'), keep('b'), keep('a')]);
  expect(all.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(read).toEqual(['a', 'bad', 'b', 'a']);
  await keep('b');
  await keep('a');
  expect(read).toHaveLength(4);
  // What failed is tried again.
  await keep('bad');
  expect(read).toHaveLength(5);
});

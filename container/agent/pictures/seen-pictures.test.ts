import { expect, test } from 'vitest';
import { keepPictures } from './kept-pictures.ts';
import { messageWith } from './seen-pictures.ts';

test('pictures that take too long are told as that, and the message goes on with the others', async () => {
  const read = keepPictures(async (path, signal) => {
    signal?.throwIfAborted();
    if (path === '/a')
      return { mediaType: 'image/png', data: Buffer.from(path), width: 1, height: 1 };
    return await new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  });
  const pictures = ['/a', '/b', '/c'].map((path) => ({ message: `m${path}`, path, problem: null }));
  const { content } = await messageWith('see', pictures, read, 20);
  expect([...content].map((part) => Object(part).text ?? 'picture')).toEqual([
    'see',
    '[picture of message m/a: /a]',
    'picture',
    '[The picture of message m/b cannot be shown: it takes too long, with those before it. The file is /b.]',
    '[The picture of message m/c cannot be shown: it takes too long, with those before it. The file is /c.]',
  ]);
});

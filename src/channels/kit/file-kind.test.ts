import { expect, test } from 'vitest';
import { kindOf } from './file-kind.ts';

test.each([
  [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg'],
  [Buffer.from('RIFF\0\0\0\0WEBPVP8 '), 'image/webp'],
  [Buffer.from('\0\0\0\x18ftypmp42'), 'video/mp4'],
  [Buffer.from('\0\0\0\x18ftypM4A '), 'audio/mp4'],
  [Buffer.from('%PDF-1.7'), 'application/pdf'],
  [Buffer.from(`${'ä'.repeat(3_000)}`), 'text/plain'],
  [Buffer.from([0, 1, 2]), 'application/octet-stream'],
  [Buffer.from([0xc3, 0x28]), 'application/octet-stream'],
  [Buffer.alloc(0), 'text/plain'],
])('a file that begins with %j is %s', (content, mimeType) => {
  expect(kindOf(content).mimeType).toBe(mimeType);
});

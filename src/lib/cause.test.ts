import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { causeInWords, codeOf } from './cause.ts';

test('a failed request is told by its code, and what the owner can look at', async () => {
  const gone = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => gone.once('listening', resolve));
  const address = gone.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await new Promise((resolve) => gone.close(resolve));
  const refused: unknown = await fetch(`http://127.0.0.1:${port}`).catch((error) => error);
  expect(causeInWords(codeOf(refused) ?? '')).toBe(
    'ECONNREFUSED: nothing listens there; check the address, and whether the server runs',
  );
  expect(codeOf(AbortSignal.abort().reason)).toBeNull();
  expect(causeInWords('HTTP 502')).toBe('HTTP 502');
});

test.each(['ENOTFOUND', 'ECONNREFUSED', 'EAI_AGAIN', 'ETIMEDOUT', 'EPROTO', 'CERT_HAS_EXPIRED'])(
  'the words for %s can stand in brackets within a sentence',
  (code) => expect(causeInWords(code)).toMatch(/^[A-Z_]+: [^.?!]*[a-z]$|^EPROTO: .*https:\/\/$/),
);

import { expect, test } from 'vitest';
import { baileysLog } from './socket.ts';

test('only Baileys’ own words are logged, and nothing below a warning', () => {
  const lines: string[] = [];
  const note = (message: string, data?: unknown) =>
    void lines.push(JSON.stringify([message, data]));
  const log = baileysLog({ info: note, warn: note });
  const secret = { privKey: 'c2VjcmV0', from: '4915112345678', text: 'hello' };
  for (const logger of [log, log.child(secret)]) {
    logger.trace(secret, 'a');
    logger.debug(secret, 'b');
    logger.info(secret, 'c');
    logger.warn(secret, 'stream errored out');
    logger.error(secret);
  }
  expect(lines.join()).not.toMatch(/c2VjcmV0|4915112345678|hello/);
  expect(lines).toHaveLength(4);
  expect(lines[0]).toContain('stream errored out');
});

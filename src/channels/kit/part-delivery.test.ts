import { expect, test } from 'vitest';
import type { OutboundMessage } from '../channel.ts';
import { PartDelivery } from './part-delivery.ts';

const MESSAGE: OutboundMessage = { id: 'a', jid: 'x:1', text: 'one two three' };

/** A messenger that takes words, until it is told to fail. */
function messenger() {
  const taken: string[] = [];
  const pauses: number[] = [];
  let failures: unknown[] = [];
  const delivery = new PartDelivery<string>({
    partsOf: ({ text }) => text.split(' '),
    send: async (_message, part) => {
      const failure = failures.shift();
      if (failure !== undefined && failure !== null) throw failure;
      taken.push(part);
    },
    pauseMs: (error) => (typeof error === 'number' ? error : null),
    pause: async (ms) => void pauses.push(ms),
    explain: (error) => new Error(`explained: ${error}`),
  });
  const fail = (...next: readonly unknown[]) => {
    failures = [...next];
  };
  return { delivery, taken, pauses, fail };
}

test('a message that failed halfway continues after the accepted parts', async () => {
  const { delivery, taken, fail } = messenger();
  fail(null, 'no');
  await expect(delivery.send(MESSAGE)).rejects.toThrow('explained: no');
  expect(taken).toEqual(['one']);
  await delivery.send(MESSAGE);
  expect(taken).toEqual(['one', 'two', 'three']);
});

test('a pause that the messenger asks for is kept, but not a long one, and not for ever', async () => {
  const { delivery, taken, pauses, fail } = messenger();
  fail(15_000, 20_000);
  await delivery.send(MESSAGE);
  expect(taken).toEqual(['one', 'two', 'three']);
  expect(pauses).toEqual([15_000, 20_000]);
  fail(1, 2, 3);
  await expect(delivery.send({ ...MESSAGE, id: 'b' })).rejects.toThrow('explained: 3');
  fail(60_000);
  await expect(delivery.send({ ...MESSAGE, id: 'c' })).rejects.toThrow('explained: 60000');
  expect(pauses).toEqual([15_000, 20_000, 1, 2]);
});

test('a message that is still under way is not sent a second time', async () => {
  const { delivery, taken } = messenger();
  await Promise.all([delivery.send(MESSAGE), delivery.send(MESSAGE)]);
  expect(taken).toEqual(['one', 'two', 'three']);
  await delivery.close();
  expect(delivery.signal.aborted).toBe(true);
});

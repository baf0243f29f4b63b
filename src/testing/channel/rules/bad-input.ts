import { expect } from 'vitest';
import { shownMessage } from '../../../host/inbound-path/shown-message.ts';
import type { Bench, Connected } from '../bench.ts';
import type { Rule } from '../rule.ts';
import type { RuleName } from '../rule-names.ts';
import { expectSentence } from './words.ts';

const TWO_GB = 2 ** 31;
const HOUR_MS = 3_600_000;

/** Rules about what no client of the far end would send, and about a clock that is wrong. */
export const BAD_INPUT = {
  'half a frame': {
    needs: ['sendHalf'],
    async check(bench) {
      const connected = await bench.meet();
      await bench.farEnd.sendHalf?.();
      await goesOn(bench, connected);
      expect(connected.host.heard).toEqual(['hello', 'after that']);
    },
  },

  'invalid UTF-8': {
    needs: ['sendInvalid'],
    async check(bench) {
      const connected = await bench.meet();
      await bench.farEnd.sendInvalid?.();
      // Half a character may be handed over: the store keeps � in its place.
      await goesOn(bench, connected);
    },
  },

  '10 MB': {
    async check(bench) {
      const connected = await bench.meet();
      await bench.farEnd.sendText('friend', 'direct', 'ten MB of text '.repeat(700_000));
      await goesOn(bench, connected);
    },
  },

  '2 GB': {
    needs: ['sendFile'],
    async check(bench) {
      const { channel, host } = await bench.meet();
      await bench.farEnd.sendFile?.('film.mp4', TWO_GB);
      await bench.until('the message is there', () => host.messages.length > 1);
      const message = host.messages.at(-1);
      const attachment = message?.attachments?.[0];
      if (message === undefined) throw new Error('nothing was handed over');
      // Words in place of the file are an answer, too.
      if (attachment === undefined) return expect(shownMessage(message)).not.toBe('');
      const fetching = channel.fetchAttachment?.(message.jid, message.id);
      const failure = await fetching?.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      if (failure instanceof Error) expectSentence(bench, failure.message);
    },
  },

  clock: {
    async check(bench) {
      const jid = bench.jidOf('direct');
      bench.clock.aheadMs = HOUR_MS;
      const ahead = await bench.meet();
      await ahead.channel.send({ id: 'm1', jid, text: 'It is early.' });
      // Set right while it runs, and then wrong the other way; what is on disk is from the future.
      bench.clock.aheadMs = -HOUR_MS;
      await bench.say('one', ahead.host);
      await ahead.channel.send({ id: 'm2', jid, text: 'It is late.' });
      const behind = await bench.restart(ahead);
      await bench.say('two', behind.host);
      await behind.channel.send({ id: 'm3', jid, text: 'It is later.' });
      expect([...ahead.host.heard, ...behind.host.heard]).toEqual(['hello', 'one', 'two']);
      expect(bench.sentAfter(0).map((text) => text.match(/early|later?/)?.[0])).toEqual([
        'early',
        'late',
        'later',
      ]);
      expect(behind.channel.status()).toMatchObject({ state: 'connected', detail: null });
    },
  },
} as const satisfies Partial<Record<RuleName, Rule>>;

/**
 * Expects that the next message arrives, and an answer to it. A machine that is slow can lose the connection over what
 * was too large, so the answer is sent as the host does: again, under the same id, where nobody said that it arrived.
 */
async function goesOn(bench: Bench, { channel, host }: Connected): Promise<void> {
  await bench.say('after that', host);
  const answer = { id: 'm9', jid: bench.jidOf('direct'), text: 'Still here.' };
  const send = async () => {
    await bench.until('it is connected', () => channel.status().state === 'connected');
    await channel.send(answer);
  };
  await send().catch(send);
  expect(bench.sentAfter(0).at(-1)).toContain('Still here');
}

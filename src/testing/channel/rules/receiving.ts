import { expect } from 'vitest';
import type { Bench } from '../bench.ts';
import { HostEnd } from '../host-end.ts';
import type { Rule } from '../rule.ts';
import type { RuleName } from '../rule-names.ts';

/** Enough to fill more than one answer of a far end; a figure for docs is taken with `CLAW_BURST=1000`. */
const BURST = Number(process.env['CLAW_BURST'] ?? 150);

/** Messages one after the other, for the figure of one. */
const SINGLE = 200;

/** Rules about messages that come in. */
export const RECEIVING = {
  acknowledged: {
    needs: ['waiting'],
    async check(bench) {
      const { farEnd } = bench;
      const host = new HostEnd();
      const { promise: stored, resolve: store } = Promise.withResolvers<void>();
      host.beforeStored = () => stored;
      await bench.connect('as set up', host);
      await farEnd.sendText('friend', 'direct', 'hello');
      await bench.until('it is handed over', () => host.offered > 0);
      expect(farEnd.waiting?.(), 'the far end was told before it was stored').toBeGreaterThan(0);
      store();
      await bench.until('it is acknowledged', () => farEnd.waiting?.() === 0);
      expect(host.heard).toEqual(['hello']);
    },
  },

  resent: {
    async check(bench) {
      const { farEnd } = bench;
      const full = new HostEnd();
      full.beforeStored = () => Promise.reject(new Error('disk full'));
      const { channel } = await bench.connect('as set up', full);
      await farEnd.sendText('friend', 'direct', 'one');
      await farEnd.sendText('friend', 'direct', 'two');
      await bench.until('one is handed over', () => full.offered > 0);
      await bench.disconnect(channel);
      await farEnd.sendText('friend', 'direct', 'three');
      const { host } = await bench.connect();
      await farEnd.sendText('friend', 'direct', 'four');
      await bench.until('all is there', () => host.heard.length >= 4);
      expect(host.heard).toEqual(['one', 'two', 'three', 'four']);
      await bench.until('all is acknowledged', () => (farEnd.waiting?.() ?? 0) === 0);
    },
  },

  restored: {
    onDisk: true,
    async check(bench) {
      const { farEnd } = bench;
      const { channel, host } = await bench.connect();
      await bench.say('before the backup', host);
      await bench.until('it is acknowledged', () => (farEnd.waiting?.() ?? 0) === 0);
      const restore = await bench.backUp();
      await bench.say('since one', host);
      await bench.say('since two', host);
      await bench.disconnect(channel);
      await restore();
      await farEnd.sendText('friend', 'direct', 'meanwhile');
      const back = await bench.connect();
      await bench.say('afterwards', back.host);
      // The host knows what it had at the time of the backup, and takes nothing of it twice.
      const [known] = host.messages;
      const heard = back.host.messages.filter(({ id }) => id !== known?.id);
      const texts = ['since one', 'since two', 'meanwhile', 'afterwards'];
      expect(heard.map(({ text }) => text)).toEqual(texts);
    },
  },

  burst: {
    async check(bench) {
      const { host } = await bench.connect();
      const texts = Array.from({ length: BURST }, (_, index) => `message ${index}`);
      const began = performance.now();
      for (const text of texts) await bench.farEnd.sendText('friend', 'direct', text);
      await bench.until('the last is there', () => host.messages.length >= BURST);
      expect(host.messages.map(({ text }) => text)).toEqual(texts);
      if (process.env['CLAW_BURST'] !== undefined) {
        const ms = Math.round(performance.now() - began);
        console.info(`${bench.subject.name}: ${BURST} messages in ${ms} ms, in order, none lost`);
        await printLatency(bench, host);
      }
    },
  },

  edited: {
    needs: ['edit'],
    async check(bench) {
      const { host } = await bench.connect();
      await bench.say('at noon', host);
      await bench.farEnd.edit?.('at one');
      await bench.say('thanks', host);
      expect(host.heard).toEqual(['at noon', 'thanks']);
    },
  },

  deleted: {
    needs: ['remove'],
    async check(bench) {
      const connected = await bench.connect();
      const { host, channel } = connected;
      await bench.say('forget it', host);
      const [asked] = host.messages;
      if (asked === undefined) throw new Error('nothing was handed over');
      await bench.farEnd.remove?.();
      await bench.say('hello', host);
      const { id, sender, text } = asked;
      const replyTo = channel.capabilities?.replyTo ? { replyTo: { id, sender, text } } : {};
      const jid = bench.jidOf('direct');
      await channel.send({ id: 'm1', jid, text: 'Done.', answersTo: [id], ...replyTo });
      expect(host.heard).toEqual(['forget it', 'hello']);
      expect(bench.sentAfter(0)).toHaveLength(1);
    },
  },
} as const satisfies Partial<Record<RuleName, Rule>>;

/** Prints the time from a message at the far end to its call of `onMessage`. */
async function printLatency({ farEnd, subject }: Bench, host: HostEnd): Promise<void> {
  const times: number[] = [];
  for (let index = 0; index < SINGLE; index += 1) {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    host.beforeStored = async () => arrive();
    const began = performance.now();
    await farEnd.sendText('friend', 'direct', `single ${index}`);
    await arrived;
    times.push(performance.now() - began);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => (times[Math.floor(SINGLE * share)] ?? Number.NaN).toFixed(1);
  console.info(`${subject.name}: one message ${at(0.5)} ms, p99 ${at(0.99)} ms to the host`);
}

import { expect } from 'vitest';
import { UnknownDelivery } from '../../../channels/channel.ts';
import type { Bench, Connected } from '../bench.ts';
import type { Rule } from '../rule.ts';
import type { RuleName } from '../rule-names.ts';
import { expectSentence } from './words.ts';

const HOUR_S = 3_600;

/** Rules about a message that goes out: there once, whatever happens. */
export const SENDING = {
  once: {
    async check(bench) {
      const first = await bench.meet();
      await send(bench, first, 'Once.');
      const second = await bench.restart(first);
      await send(bench, second, 'Once.');
      expect(bench.sentAfter(0)).toHaveLength(1);
    },
  },

  'lost answer': {
    needs: ['loseNext'],
    async check(bench) {
      const connected = await bench.meet();
      await bench.farEnd.loseNext?.();
      const failure = await failureOf(send(bench, connected, 'Once.'));
      // Told that it is unknown, the host repeats it once and says so: that is as good as it gets.
      if (!(failure instanceof UnknownDelivery)) {
        if (failure !== null) await sendAgain(bench, connected, 'Once.');
        expect(bench.sentAfter(0)).toHaveLength(1);
      }
    },
  },

  'lost draft': {
    async check(bench) {
      const first = await bench.meet();
      if (first.channel.draft === undefined) {
        expect(first.channel.capabilities?.drafts, 'it shows none').toBeUndefined();
        return;
      }
      expect(bench.farEnd.loseNext, 'the far end can lose an answer').toBeDefined();
      for (const id of ['replaced', 'goes on', 'taken back']) await loseDraft(bench, first, id);
      const { channel } = await bench.restart(first);
      const jid = bench.jidOf('direct');
      await channel.send({ id: 'm1', jid, text: 'It is replaced.', replaces: 'replaced' });
      await channel.draft?.({ id: 'goes on', jid, text: 'It goes', activity: null });
      await channel.send({ id: 'm2', jid, text: 'It goes on.', replaces: 'goes on' });
      await channel.takeBack?.(jid, 'taken back');
      expect(bench.sentAfter(0)).toEqual(['It is replaced.', 'It goes on.']);
    },
  },

  'parts once': {
    needs: ['limitNext'],
    async check(bench) {
      const connected = await bench.meet();
      const words = Array.from({ length: 3 }, (_, at) =>
        `part${at} `.repeat(roomFor(bench)).trim(),
      );
      const text = words.join('\n\n');
      await bench.farEnd.limitNext?.(HOUR_S, 1);
      const failure = await failureOf(send(bench, connected, text));
      if (failure !== null) {
        expect(failure).not.toBeInstanceOf(UnknownDelivery);
        await send(bench, connected, text);
      }
      expect(bench.sentAfter(0).join(' ').split(/\s+/)).toEqual(text.split(/\s+/));
    },
  },

  'retry-after': {
    needs: ['limitNext'],
    async check(bench) {
      const connected = await bench.meet();
      await bench.farEnd.limitNext?.(1);
      const began = performance.now();
      await send(bench, connected, 'Late.');
      const waited = Math.max(performance.now() - began, ...bench.clock.pauses);
      expect(waited, 'it waits for as long as it was told').toBeGreaterThanOrEqual(1_000);
      expect(bench.sentAfter(0)).toHaveLength(1);
    },
  },

  'no retry-after': {
    needs: ['limitNext'],
    async check(bench) {
      const connected = await bench.meet();
      await bench.farEnd.limitNext?.(null);
      const failure = await failureOf(send(bench, connected, 'Late.'));
      if (failure !== null) {
        expect(failure).not.toBeInstanceOf(UnknownDelivery);
        expectSentence(bench, failure.message);
        await sendAgain(bench, connected, 'Late.');
      }
      expect(bench.sentAfter(0)).toHaveLength(1);
    },
  },

  gone: {
    needs: ['close'],
    async check(bench) {
      const connected = await bench.meet();
      const { channel, host } = connected;
      await bench.farEnd.close?.('direct');
      const failure = await failureOf(send(bench, connected, 'Anyone?'));
      expect(failure, 'a chat that is gone takes nothing').toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(UnknownDelivery);
      expectSentence(bench, failure?.message ?? null);
      expect(channel.status().state).toBe('connected');
      if (bench.farEnd.jidOf('group') === null) return;
      await bench.farEnd.sendText('friend', 'group', 'here');
      await bench.until('the group is heard', () => host.heard.includes('here'));
    },
  },
} as const satisfies Partial<Record<RuleName, Rule>>;

function send(bench: Bench, { channel }: Connected, text: string): Promise<void> {
  return channel.send({ id: 'm1', jid: bench.jidOf('direct'), text });
}

/** Shows a draft, of which the channel never learns that it is there. */
async function loseDraft(bench: Bench, { channel }: Connected, id: string): Promise<void> {
  const before = bench.sentAfter(0).length;
  await bench.farEnd.loseNext?.();
  const draft = { id, jid: bench.jidOf('direct'), text: `Half of ${id}`, activity: null };
  expect(await failureOf(channel.draft?.(draft) ?? Promise.resolve())).not.toBeNull();
  expect(bench.sentAfter(0), 'it is there').toHaveLength(before + 1);
}

/** Sends as the host does after a refusal: a few times, under the same id. */
async function sendAgain(bench: Bench, connected: Connected, text: string): Promise<void> {
  const { channel } = connected;
  await bench.until('it is connected', () => channel.status().state === 'connected');
  const failure = await failureOf(send(bench, connected, text));
  if (failure !== null) await send(bench, connected, text);
}

async function failureOf(sending: Promise<void>): Promise<Error | null> {
  try {
    await sending;
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(`not an error: ${String(error)}`);
  }
}

/** Words of seven characters that nearly fill a message. */
function roomFor({ subject }: Bench): number {
  return Math.floor((subject.limit * 0.8) / 7);
}

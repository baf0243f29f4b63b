import { expect } from 'vitest';
import { type AgentScript, answers, TestChannel, TestProject } from '../../assistant.ts';
import type { Rule } from '../rule.ts';
import type { RuleName } from '../rule-names.ts';
import { expectSentence } from './words.ts';

const FEW_FAILURES = 5;

/** Rules about the connection, and about the channel as one of several in an assistant. */
export const CONNECTION = {
  reconnect: {
    needs: ['goDown', 'comeUp'],
    async check(bench) {
      const { channel, host } = await bench.meet();
      await bench.farEnd.goDown?.();
      await bench.until('it has noticed', () => channel.status().state !== 'connected');
      expectSentence(bench, channel.status().detail);
      expect(['connecting', 'failed']).toContain(channel.status().state);
      await bench.farEnd.comeUp?.();
      await bench.say('back again', host);
      await bench.until('it is connected', () => channel.status().state === 'connected');
      expect(channel.status().detail).toBeNull();
      await channel.send({ id: 'm1', jid: bench.jidOf('direct'), text: 'Welcome back.' });
      expect(bench.sentAfter(0)).toHaveLength(1);
    },
  },

  'back-off': {
    needs: ['goDown', 'comeUp'],
    async check(bench) {
      const { channel } = await bench.meet();
      await bench.farEnd.goDown?.();
      await bench.until('it has noticed', () => channel.status().state !== 'connected');
      const before = bench.clock.pauses.length;
      const pauses = () => bench.clock.pauses.slice(before);
      await bench.until('it has tried a few times', () => pauses().length >= FEW_FAILURES);
      const [first = 0, ...later] = pauses();
      expect(first, 'there is a pause before the next attempt').toBeGreaterThanOrEqual(100);
      expect(later.at(-1), 'pauses grow').toBeGreaterThan(first);
      expect(Math.max(...pauses()), 'it does not wait for hours').toBeLessThanOrEqual(600_000);
      await bench.farEnd.comeUp?.();
      await bench.until('it is connected', () => channel.status().state === 'connected');
    },
  },

  answered: {
    async check(bench) {
      using project = new TestProject();
      const prompts: string[] = [];
      const agent: AgentScript = async ({ prompt }) => {
        prompts.push(prompt);
        return answers(`pong ${prompts.length}`);
      };
      const start = async () => {
        const channel = bench.create();
        const terminal = new TestChannel('terminal');
        const channels = channel.name === 'terminal' ? [channel] : [terminal, channel];
        const assistant = await project.start({ agent, over: { channels } });
        if (channel.isOpen)
          await terminal.say(`/allow ${bench.subject.name} ${bench.jidOf('direct')}`);
        return assistant;
      };
      const first = await start();
      await bench.farEnd.sendText('friend', 'direct', 'ping');
      await bench.until('it is answered', () => bench.sentAfter(0).length > 0);
      await first.stop();
      await bench.farEnd.sendText('friend', 'direct', 'ping while away');
      const second = await start();
      await bench.until('the second is answered', () => bench.sentAfter(1).length > 0);
      await second.stop();
      const texts = bench.sentAfter(0).map((text) => bench.subject.notation.read(text).text.trim());
      expect(texts).toEqual(['pong 1', 'pong 2']);
    },
  },

  apart: {
    needs: ['goDown', 'comeUp'],
    async check(bench) {
      using project = new TestProject();
      const neighbour = new TestChannel('terminal');
      await bench.farEnd.goDown?.();
      const broken = bench.create();
      const agent: AgentScript = async () => answers('pong');
      const assistant = await project.start({ agent, over: { channels: [broken, neighbour] } });
      await neighbour.say('hello');
      await bench.until('the other answers', () => neighbour.sent.length > 0);
      expect(broken.status().state).not.toBe('connected');
      await bench.farEnd.comeUp?.();
      if (broken.isOpen)
        await neighbour.say(`/allow ${bench.subject.name} ${bench.jidOf('direct')}`);
      await bench.farEnd.sendText('friend', 'direct', 'hello');
      await bench.until('it answers as well', () => bench.sentAfter(0).length > 0);
      await assistant.stop();
    },
  },
} as const satisfies Partial<Record<RuleName, Rule>>;

import { z } from 'zod';
import { Address, NameList } from '../lib/setting-values.ts';
import { type ChannelEvents, defineChannel } from './channel.ts';
import { isAllowed } from './kit/allow-list.ts';
import { Connection } from './kit/connection.ts';
import { explainConnect, explainSend, HttpFailure, request } from './kit/http.ts';
import { jsonIn, linesOf } from './kit/lines.ts';
import { PartDelivery } from './kit/part-delivery.ts';
import { splitMarkdown } from './kit/split-markdown.ts';

const TOWER = 'The tower';
const LIMIT = 2_000;

const Letter = z.object({
  id: z.string(),
  from: z.string(),
  room: z.string(),
  isPrivate: z.boolean(),
  text: z.string(),
  at: z.number(),
});

/** Ravens through a tower of the owner's. Silent until RAVEN_TOWER and RAVEN_TOKEN are set. */
export const channel = defineChannel({
  name: 'raven',
  settings: z.object({
    RAVEN_ALLOW_FROM: NameList,
    RAVEN_TOKEN: z.string().optional(),
    RAVEN_TOWER: Address.optional(),
  }),
  needs: ['RAVEN_TOWER', 'RAVEN_TOKEN'],
  create({ settings, clock, log }) {
    const { RAVEN_TOWER: tower, RAVEN_TOKEN: token, RAVEN_ALLOW_FROM: allowFrom } = settings;
    if (tower === undefined || token === undefined) return null;
    const headers = { authorization: `Bearer ${token}` };
    const ask = (path: string, init: RequestInit) =>
      request(`${tower}${path}`, { headers, ...init });

    // Acknowledged when it is stored: where that fails, the connection ends, and the tower sends it again.
    const take = async (line: string, events: ChannelEvents): Promise<void> => {
      const { data: letter } = Letter.safeParse(jsonIn(line));
      if (letter === undefined) return log.warn('a line from the tower was no letter');
      const { id, from: sender, isPrivate: isDirect, text } = letter;
      if (isAllowed(allowFrom, sender)) {
        const place = { jid: `raven:${letter.room}`, chatName: letter.room, isDirect };
        const who = { sender, senderName: sender, isOwner: false, mentionsAssistant: false };
        await events.onMessage({ id, text, sentAt: letter.at, ...place, ...who });
      } else if (isDirect) {
        await events.onStranger?.(sender);
      }
      await ask(`/letters/${encodeURIComponent(id)}`, { method: 'DELETE' });
    };

    const connection = new Connection({
      title: TOWER,
      clock,
      problem:
        allowFrom.length > 0 ? null : 'Add RAVEN_ALLOW_FROM=<your name> to .env and restart.',
      explain: (error) => explainConnect(TOWER, 'RAVEN_TOKEN', error),
      async open(events, signal) {
        const { body } = await ask('/letters', { signal });
        const read = async () => {
          for await (const line of linesOf(body)) await take(line, events);
        };
        return { closed: read() };
      },
    });
    const delivery = new PartDelivery<{ readonly at: number; readonly text: string }>({
      partsOf: ({ text }) => splitMarkdown(text, LIMIT).map((part, at) => ({ at, text: part })),
      async send({ id, jid }, { at, text }, signal) {
        if (connection.status().state !== 'connected')
          throw new Error(`${TOWER} is not connected.`);
        // The tower keeps one letter of each id: one that is sent again is there once.
        const letter = { id: `${id}-${at}`, room: jid.slice('raven:'.length), text };
        await ask('/letters', { method: 'POST', body: JSON.stringify(letter), signal });
      },
      pauseMs: (error) => (error instanceof HttpFailure ? error.waitMs : null),
      pause: clock.pause,
      explain: (error) => explainSend(TOWER, error),
    });
    return {
      name: 'raven',
      allowSetting: 'RAVEN_ALLOW_FROM',
      connect: (events) => connection.connect(events),
      disconnect: () => connection.disconnect(),
      status: () => connection.status(),
      send: (message) => delivery.send(message),
      setTyping: async () => {},
      ownsJid: (jid) => jid.startsWith('raven:'),
    };
  },
});

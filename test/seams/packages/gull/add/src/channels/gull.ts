import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { jsonWithin } from '../lib/bounded-json.ts';
import { Address, NameList } from '../lib/setting-values.ts';
import { type ChannelStatus, defineChannel } from './channel.ts';
import { isAllowed } from './kit/allow-list.ts';

const BOUNDS = { maxBytes: 100_000, maxValues: 20, maxDepth: 3 };
const Letter = z.object({
  id: z.string().max(100),
  from: z.string().max(100),
  text: z.string().max(50_000),
  at: z.number(),
});

/** Gulls bring letters to the assistant's own address. Silent until GULL_ROOST and GULL_SECRET are set. */
export const channel = defineChannel({
  name: 'gull',
  settings: z.object({
    GULL_ALLOW_FROM: NameList,
    GULL_ROOST: Address.optional(),
    GULL_SECRET: z.string().optional(),
  }),
  needs: ['GULL_ROOST', 'GULL_SECRET'],
  create({ settings: { GULL_ROOST: roost, GULL_SECRET: secret, GULL_ALLOW_FROM: allowFrom } }) {
    if (roost === undefined || secret === undefined) return null;
    const sign = (text: string | Buffer) => createHmac('sha256', secret).update(text).digest();
    let status: ChannelStatus = { state: 'stopped', detail: null };
    return {
      name: 'gull',
      allowSetting: 'GULL_ALLOW_FROM',
      async connect(events) {
        await events.route?.({
          method: 'POST',
          path: '/letters',
          access: 'own',
          maxBytes: BOUNDS.maxBytes,
          async handle({ headers, body }) {
            const given = Buffer.from(String(headers['x-signature']), 'hex');
            const made = sign(body);
            if (given.length !== made.length || !timingSafeEqual(given, made)) {
              return { status: 401 };
            }
            const { data: letter } = Letter.safeParse(jsonWithin(body, BOUNDS));
            if (letter === undefined) return { status: 400 };
            const { id, from: sender, text, at: sentAt } = letter;
            if (!isAllowed(allowFrom, sender)) await events.onStranger?.(sender);
            else {
              const who = { sender, senderName: null, isOwner: false, mentionsAssistant: false };
              const chat = { jid: `gull:${sender}`, chatName: null, isDirect: true };
              // The gull comes again where this rejects: it is told only of what is stored.
              await events.onMessage({ id, ...chat, ...who, text, sentAt });
            }
            return { status: 204 };
          },
        });
        status = { state: 'connected', detail: null };
        events.onStatus(status);
      },
      disconnect: async () => {},
      async send({ id, jid, text }) {
        const body = JSON.stringify({ id, to: jid.slice('gull:'.length), text });
        const headers = { 'x-signature': sign(body).toString('hex') };
        const response = await fetch(roost, { method: 'POST', body, headers });
        if (!response.ok) throw new Error(`the roost answered ${response.status}`);
      },
      setTyping: async () => {},
      ownsJid: (jid) => jid.startsWith('gull:'),
      status: () => status,
    };
  },
});

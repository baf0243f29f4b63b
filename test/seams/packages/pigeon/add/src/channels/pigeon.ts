import { z } from 'zod';
import { defineChannel } from './channel.ts';

export const channel = defineChannel({
  name: 'pigeon',
  settings: z.object({ PIGEON_URL: z.url('must be the address of the loft').optional() }),
  needs: ['PIGEON_URL'],
  create({ settings: { PIGEON_URL: loft } }) {
    if (loft === undefined) return null;
    return {
      name: 'pigeon',
      connect: async ({ onStatus }) => onStatus({ state: 'connected', detail: null }),
      disconnect: async () => {},
      async send({ jid, text }) {
        const body = JSON.stringify({ to: jid, text });
        const response = await fetch(loft, { method: 'POST', body });
        if (!response.ok) throw new Error(`the loft answered ${response.status}`);
      },
      setTyping: async () => {},
      ownsJid: (jid) => jid.startsWith('pigeon:'),
      status: () => ({ state: 'connected', detail: null }),
    };
  },
});

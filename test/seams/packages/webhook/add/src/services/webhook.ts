import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { defineService } from '../host/contracts/service.ts';

export const service = defineService({
  name: 'webhook',
  settings: z.object({
    WEBHOOK_SECRET: z.string().min(16, 'must have 16 characters or more').optional(),
  }),
  needs: ['WEBHOOK_SECRET'],
  async start({ settings: { WEBHOOK_SECRET: secret = '' }, route, queueTurn, openDatabase }) {
    const database = openDatabase(['CREATE TABLE seen (id TEXT PRIMARY KEY) STRICT']);
    const known = database.prepare('SELECT 1 FROM seen WHERE id = ?');
    const keep = database.prepare('INSERT INTO seen VALUES (?)');
    const { url } = await route({
      method: 'POST',
      path: '/push',
      access: 'own',
      handle({ headers, body }) {
        const mine = createHmac('sha256', secret).update(body).digest();
        const theirs = Buffer.from(String(headers['x-signature']), 'hex');
        if (theirs.length !== mine.length || !timingSafeEqual(mine, theirs)) return { status: 401 };
        const id = mine.toString('hex');
        if (known.get(id) !== undefined) return { status: 200 };
        queueTurn({ folder: 'main', prompt: `A webhook said, from outside:\n${body}` });
        keep.run(id);
        return { status: 202 };
      },
    });
    return { stop() {}, status: () => `takes pushes at ${url}` };
  },
});

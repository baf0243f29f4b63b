import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openReadOnly } from '../store/open-read-only.ts';
import { type Examination, ok } from './examination.ts';

const AREA = 'private answers';
const Count = z.object({ chats: z.int() });

/** Says how many direct chats there are in which somebody can be answered in private. */
export const examination: Examination = {
  area: AREA,
  order: 78,
  async examine({ dataDir }) {
    const path = join(dataDir, 'claw.db');
    if (!existsSync(path)) return [ok(AREA, 'no chat is registered yet')];
    const database = openReadOnly(path);
    try {
      const { chats } = Count.parse(
        database
          .prepare(`
            SELECT count(*) AS chats FROM groups JOIN chats ON chats.jid = groups.jid
            WHERE chats.is_direct = 1 AND groups.is_main = 0`)
          .get(),
      );
      const people = `${chats} ${chats === 1 ? 'person has' : 'people have'} a chat of their own`;
      const advice =
        'Somebody gets one by writing to the assistant directly: `/allow`, `/register`.';
      return [ok(AREA, people, chats === 0 ? advice : null)];
    } finally {
      database.close();
    }
  },
};

import { z } from 'zod';
import { defineApi, reads } from '../api.ts';

/** How many messages came in each chat. */
export const api = defineApi({
  name: 'busiest',
  actions: {
    chats: reads(z.object({}), (_, { context: { store } }) =>
      store.groups
        .all()
        .map(({ jid, name }) => ({
          name,
          messages: store.messages.countBetween({ jid, from: 0, upto: Number.MAX_SAFE_INTEGER }),
        }))
        .sort((one, other) => other.messages - one.messages),
    ),
  },
});

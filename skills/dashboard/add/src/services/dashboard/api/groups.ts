import { z } from 'zod';
import { defineApi, reads } from '../api.ts';

const Folder = z.string().max(100);
const VERSIONS = 50;

/** The registered chats, what each may do, and what its agent remembers. Commands change it. */
export const api = defineApi({
  name: 'groups',
  actions: {
    all: reads(z.object({}), (_, { context: { store, budgets, tools } }) => {
      const { folders, totalLimits } = budgets.report();
      return store.groups.all().map((group) => {
        const spending = folders.find(({ folder }) => folder === group.folder);
        return {
          ...group,
          today: spending?.spent ?? { tokens: 0, microUsd: 0, unpricedCalls: 0 },
          limits: spending?.limits ?? totalLimits,
          hasOwnBudget: spending?.isOwn ?? false,
          callers: store.senders.ofGroup(group.jid).length,
          tools: tools.offered(group.folder).map(({ name }) => name),
          toolsOff: store.toolSwitches.offIn(group.folder),
        };
      });
    }),
    memory: reads(
      z.object({ folder: Folder }),
      async ({ folder }, { context: { memory } }) => {
        const now = await memory.read(folder);
        const versions = memory
          .last(folder, VERSIONS)
          .map(({ seq, author, at, text }) => ({ seq, author, at, length: text.length }));
        return { now, versions };
      },
      'admin',
    ),
    version: reads(
      z.object({ folder: Folder, seq: z.coerce.number().int() }),
      ({ folder, seq }, { context: { memory } }) => {
        const found = memory.version(folder, seq);
        return found && { before: found.before?.text ?? '', after: found.version.text };
      },
      'admin',
    ),
  },
});

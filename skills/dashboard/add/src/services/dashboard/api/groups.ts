import { z } from 'zod';
import type { ServiceContext } from '../../../host/contracts/service.ts';
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
          callers: callersOf(store, group.jid),
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

/** Returns who may call the assistant in a chat, by the names that they gave themselves last; nobody for no limit. */
function callersOf({ senders, messages }: ServiceContext['store'], jid: string): readonly string[] {
  const allowed = senders.ofGroup(jid);
  if (allowed.length === 0) return [];
  const names = new Map(messages.sendersOf(jid).map(({ sender, name }) => [sender, name]));
  return allowed.map((sender) => names.get(sender) ?? sender);
}

import { ToolFault } from '../../lib/tool-fault.ts';
import type { Group } from '../../store/store.ts';
import type { Elsewhere, ToolCall } from '../contracts/tool.ts';
import { SeveralFit } from './group-refused.ts';

/**
 * Returns the group that an agent names, by folder or name; its own group if it names none. A folder spelt exactly
 * comes first: the owner chose it, while members choose a chat's name.
 *
 * @throws Error in words for the agent when there is none, when several fit, or when it may not name another
 *   than its own
 */
export function namedGroup(
  { caller, store }: Pick<ToolCall, 'caller' | 'store'>,
  wanted: string | undefined,
  refusal: string,
): Group {
  const name = wanted?.toLowerCase() ?? caller.folder;
  const isCaller = name === caller.folder || name === caller.name.toLowerCase();
  if (!caller.isMain && !isCaller) throw new ToolFault('not-allowed', refusal);
  if (!caller.isMain || wanted === undefined || wanted === caller.folder) return caller;
  const groups = store.groups.all();
  const inFolder = groups.find(({ folder }) => folder === wanted);
  if (inFolder !== undefined) return inFolder;
  const found = groups.filter(
    (group) => group.folder === name || group.name.toLowerCase() === name,
  );
  const [only] = found;
  if (found.length > 1) {
    throw new SeveralFit(
      wanted,
      found.map((group) => ({ ...group, isRegistered: true })),
    );
  }
  if (only !== undefined) return only;
  const known = groups.map((group) => group.folder).join(', ');
  throw new ToolFault('not-found', `No registered chat is called ${wanted}. There are: ${known}.`);
}

/** Returns the other chat that an agent names; null for its own. Throws as `namedGroup` does. */
export function otherGroup(
  call: Pick<ToolCall, 'caller' | 'store'>,
  wanted: string | undefined,
): Elsewhere | null {
  const group = namedGroup(call, wanted, 'This is for the main chat only.');
  return group.folder === call.caller.folder ? null : chatOf(group);
}

/** Returns a chat as something that a call acts on. */
export function chatOf({ folder, name }: Group): Elsewhere {
  return { key: folder, name: `the chat ${name} (groups/${folder})` };
}

import type { Group } from '../store/store.ts';
import type { ToolContext } from './tool.ts';

/**
 * The group that an agent names, by name or folder; its own when it names none.
 *
 * @throws Error in words for the agent when there is none, or when it may not name another than its own
 */
export function namedGroup(
  { caller, store }: Pick<ToolContext, 'caller' | 'store'>,
  wanted: string | undefined,
  refusal: string,
): Group {
  const name = wanted?.toLowerCase() ?? caller.folder;
  if (name === caller.folder || name === caller.name.toLowerCase()) return caller;
  if (!caller.isMain) throw new Error(refusal);
  const groups = store.groups.all();
  const found = groups.filter(
    (group) => group.folder === name || group.name.toLowerCase() === name,
  );
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  const known = groups.map((group) => group.folder).join(', ');
  throw new Error(
    found.length === 0
      ? `No registered chat is called ${wanted}. There are: ${known}.`
      : `Several chats are called ${wanted}. Use the folder: ${found.map((group) => group.folder).join(', ')}.`,
  );
}

import type { Group } from '../store/store.ts';
import type { ToolContext } from './tool.ts';

/**
 * The group that an agent names, by folder or name; its own when it names none. A folder is the owner's
 * word and comes first: what a chat is called is up to its members.
 *
 * @throws Error in words for the agent when there is none, or when it may not name another than its own
 */
export function namedGroup(
  { caller, store }: Pick<ToolContext, 'caller' | 'store'>,
  wanted: string | undefined,
  refusal: string,
): Group {
  const name = wanted?.toLowerCase() ?? caller.folder;
  const isCalledLikeCaller = name === caller.name.toLowerCase();
  if (name === caller.folder || (isCalledLikeCaller && !caller.isMain)) return caller;
  if (!caller.isMain) throw new Error(refusal);
  const groups = store.groups.all();
  const inFolder = groups.find((group) => group.folder === name);
  if (inFolder !== undefined) return inFolder;
  if (isCalledLikeCaller) return caller;
  const found = groups.filter((group) => group.name.toLowerCase() === name);
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  const known = groups.map((group) => group.folder).join(', ');
  throw new Error(
    found.length === 0
      ? `No registered chat is called ${wanted}. There are: ${known}.`
      : `Several chats are called ${wanted}. Use the folder: ${found.map((group) => group.folder).join(', ')}.`,
  );
}

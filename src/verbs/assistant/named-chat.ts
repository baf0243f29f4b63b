import { nearestNames } from '../../lib/nearest-names.ts';
import type { ChatOverview } from '../../store/read-only-queries.ts';
import { VerbError } from '../../verb.ts';

/**
 * Finds a chat by its folder, its address or its name; of the owner's own chats, which share a folder, all.
 *
 * @throws VerbError where there is none, or where several have that name
 */
export function namedChats(
  chats: readonly ChatOverview[],
  typed: string,
): readonly [ChatOverview, ...ChatOverview[]] {
  const word = typed.trim().toLowerCase();
  const [inFolder, ...others] = chats.filter(({ group }) => group?.folder === word);
  if (inFolder !== undefined) return [inFolder, ...others];
  const found = chats.filter(
    ({ jid, name, group }) =>
      jid === typed || [name, group?.name].some((one) => one?.toLowerCase() === word),
  );
  const [only, second] = found;
  if (only !== undefined && second === undefined) return [only];
  if (only === undefined) throw new VerbError('usage', unknownChat(chats, typed));
  const list = found.map(({ jid, group }) => (group === null ? jid : `${group.folder} or ${jid}`));
  throw new VerbError('usage', `Several chats are called "${typed}": say ${list.join('; ')}.`);
}

/** Returns what to say of a name that no chat has, with those that are like it. */
export function unknownChat(chats: readonly ChatOverview[], typed: string): string {
  const names = chats.flatMap(({ jid, name, group }) => [group?.folder ?? name ?? jid]);
  const near = nearestNames(typed.toLowerCase(), [...new Set(names)], 3);
  const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return `No chat is called "${typed}".${hint} \`npx claw groups\` lists them.`;
}

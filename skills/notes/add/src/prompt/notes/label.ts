import type { PromptSender } from '../../host/contracts/prompt-section.ts';

/** Another name of the owner's: on one channel, or on all where `channel` is null. */
export type OwnerAlias = { readonly channel: string | null; readonly id: string };

/**
 * Reads aliases with commas between them: `telegram:12345` counts on Telegram alone, `ada@example.org` on every
 * channel. Before the first colon stands a channel if it can be the name of one.
 */
export function parseAliases(list: string): readonly OwnerAlias[] {
  return list
    .split(',')
    .map((alias) => alias.trim())
    .filter((alias) => alias !== '')
    .map((alias) => {
      const [, channel, id] = /^([a-z][a-z0-9-]*):(.+)$/i.exec(alias) ?? [];
      return channel === undefined || id === undefined
        ? { channel: null, id: plain(alias) }
        : { channel: channel.toLowerCase(), id: plain(id) };
    });
}

/**
 * Returns the label of a person's words, `[telegram / owner]` or `[telegram / 12345]`. It is made of the id that
 * the channel vouches for, since a name is what people can give themselves. An alias labels and gives no rights.
 */
export function labelOf(
  channel: string,
  sender: PromptSender | null,
  aliases: readonly OwnerAlias[],
): string {
  if (sender === null) return `[${channel} / assistant]`;
  const ids = [plain(sender.id), plain(sender.id.split('@')[0] ?? '')];
  const isAlias = aliases.some(
    (alias) => (alias.channel ?? channel) === channel && ids.includes(alias.id),
  );
  return `[${channel} / ${sender.isOwner || isAlias ? 'owner' : whoOf(sender.id)}]`;
}

/** No id can pass for the owner's or the assistant's label, or for the end of one. */
function whoOf(id: string): string {
  const one = id
    .normalize('NFKC')
    // Signs that nobody sees would let `owner` stand there.
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
    .replace(/[\s\p{C}[\]/]+/gu, ' ')
    .trim()
    .slice(0, 80);
  return /^(owner|assistant)$/i.test(one) ? `id ${one}` : one;
}

function plain(id: string): string {
  return id.trim().toLowerCase().replace(/^\+/, '').replace(/\s+/g, '');
}

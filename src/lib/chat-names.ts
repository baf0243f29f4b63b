/**
 * Returns how chats are called in a list: one whose name another chat has too, such as those of one person on several
 * channels, with its channel.
 */
export function chatNames(
  chats: readonly {
    readonly jid: string;
    readonly name: string | null;
    readonly channel: string | null;
  }[],
): ReadonlyMap<string, string> {
  const plain = ({ jid, name }: { readonly jid: string; readonly name: string | null }) =>
    name ?? jid;
  const counts = Map.groupBy(chats, (chat) => plain(chat).trim().toLowerCase());
  return new Map(
    chats.map((chat) => {
      const isAlone = (counts.get(plain(chat).trim().toLowerCase()) ?? []).length < 2;
      const isLabelled = !isAlone && chat.name !== null && chat.channel !== null;
      return [chat.jid, isLabelled ? `${plain(chat)} on ${chat.channel}` : plain(chat)];
    }),
  );
}

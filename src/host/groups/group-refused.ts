/** A request about a group that is impossible; the message says why, and what is possible. */
export class GroupRefused extends Error {
  override readonly name = 'GroupRefused';
}

/** The folder holds files of an earlier chat: only the owner can give it to another one. */
export class FolderLeft extends GroupRefused {
  readonly folder: string;

  constructor(folder: string) {
    super(
      `groups/${folder} holds files and memory of an earlier chat. Choose another folder, or let the ` +
        `owner say \`/register … as ${folder}\`.`,
    );
    this.folder = folder;
  }
}

/** A chat that a name may mean. */
export type FittingChat = {
  readonly jid: string;
  readonly name: string | null;
  /** The folder that it has or had. */
  readonly folder: string | null;
  readonly isRegistered: boolean;
};

/** A name fits several chats: the owner says which. */
export class SeveralFit extends GroupRefused {
  readonly typed: string;
  readonly chats: readonly FittingChat[];

  constructor(typed: string, chats: readonly FittingChat[]) {
    const word = chats.every(({ folder }) => folder !== null) ? 'folder' : 'folder or the address';
    super(
      `Several chats fit ${typed}: ${chats.map(labelOf).join(', ')}. Say the ${word} instead of the name.`,
    );
    this.typed = typed;
    this.chats = chats;
  }
}

/** Returns a chat in words that tell it from others of its name. */
export function labelOf({ jid, name, folder, isRegistered }: FittingChat): string {
  const place = folder === null ? jid : `groups/${folder}`;
  return `${name ?? jid} (${place}${isRegistered ? '' : ', not registered'})`;
}

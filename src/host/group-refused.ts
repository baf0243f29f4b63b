/** What was asked of a group cannot be done; the message says why and what can. */
export class GroupRefused extends Error {
  override readonly name = 'GroupRefused';
}

/** The folder holds what an earlier chat left: only the owner can give it to another one. */
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

/** The kinds of content that people send, in the order of the table in docs/channels.md. */
export const CONTENT_KINDS = {
  links: 'text with a link behind words',
  reply: 'reply to another person',
  'reply to us': 'reply to the assistant',
  'reply to picture': 'reply to a picture',
  'partial quote': 'reply to a part of a message',
  forward: 'forwarded text',
  'forwarded file': 'forwarded file',
  edit: 'edit',
  deletion: 'deletion',
  album: 'album of three pictures with a caption',
  picture: 'picture with a caption',
  video: 'video',
  voice: 'voice note',
  document: 'document',
  sticker: 'sticker',
  place: 'place with a name and coordinates',
  contact: 'contact',
  poll: 'poll with options',
  'poll result': 'result of a poll',
  checklist: 'checklist',
  event: 'event',
  invitation: 'invitation to a group',
  business: 'business template with buttons',
  button: 'press on a button of a business message',
  paid: 'paid media',
  'view once': 'media to be viewed once',
  topic: 'message in a topic or thread',
  migrated: 'group that gets another address',
  'topic deleted': 'answer to a topic that was deleted',
  upgraded: 'room that was upgraded',
  left: 'member who left',
  unknown: 'unknown kind',
} as const;

/** The name of a kind, as a channel's cells have it. */
export type ContentKind = keyof typeof CONTENT_KINDS;

/** Every kind's name, in the order of the table. */
export const CONTENT_KIND_NAMES = Object.keys(CONTENT_KINDS) as ContentKind[];

/**
 * What comes of a kind on one channel: the exact lines that the agent sees, with `ID` for ids that the far end makes up;
 * or why the far end has no such thing, as the rest of "nothing here: …". A line for the owner begins with `(to the
 * owner)`, a chat that goes on elsewhere is `(chat) old → new`.
 */
export type ContentCell = { readonly sees: readonly string[] } | { readonly none: string };

/** A channel's column of the table. */
export type ContentCells = Readonly<Record<ContentKind, ContentCell>>;

/** Returns the column of a channel that has only these kinds; of all others the reason says why it has none. */
export function onlyContent(cells: Partial<ContentCells>, reason: string): ContentCells {
  const none = CONTENT_KIND_NAMES.map((kind): [ContentKind, ContentCell] => [
    kind,
    { none: reason },
  ]);
  return { ...(Object.fromEntries(none) as ContentCells), ...cells };
}

/** What a group's folder may be called: one plain part of a path on every file system. */
export const FOLDER_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const RESERVED = new Set(['main', 'global']);

/**
 * A folder name for a chat that registers itself: `<channel>-<id>`, made to fit the rule.
 *
 * @param isTaken says whether a name is in use, whatever its case
 */
export function folderNameFor(
  channel: string,
  jid: string,
  isTaken: (name: string) => boolean,
): string {
  const id = jid.startsWith(`${channel}:`) ? jid.slice(channel.length + 1) : jid.split('@', 1)[0];
  const wanted = sanitise(`${channel}-${id}`) || 'chat';
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`;
    const name = wanted.slice(0, 63 - suffix.length).replace(/-+$/, '') + suffix;
    if (!RESERVED.has(name) && !isTaken(name)) return name;
  }
}

function sanitise(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

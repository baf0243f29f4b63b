/**
 * Names that a group's folder may have: one plain part of a path on every file system, in lower case, so
 * that two names never differ by case alone.
 */
export const FOLDER_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Names that mean something else: the folder of main, the one for all groups, and devices on Windows. */
const RESERVED = new Set(
  ['main', 'global', 'con', 'prn', 'aux', 'nul'].concat(
    Array.from({ length: 10 }, (_, number) => [`com${number}`, `lpt${number}`]).flat(),
  ),
);

/** Why a name cannot be a group's folder, as the end of a sentence; null when it can. */
export function folderNameProblem(name: string): string | null {
  if (RESERVED.has(name.toLowerCase())) return 'is reserved';
  if (FOLDER_NAME.test(name)) return null;
  return 'must be made of a-z, 0-9 and dashes, 63 at most, with no dash first';
}

/**
 * Returns the first free name for a chat's folder: the chat's name, changed to follow the rule, or else
 * `<channel>-<id>`; with a number if that is taken.
 *
 * @param isTaken says whether a name is in use, whatever its case
 * @param name the chat's name; without one its folder is named by its address
 */
export function folderNameFor(
  channel: string,
  jid: string,
  isTaken: (name: string) => boolean,
  name = '',
): string {
  const id = jid.startsWith(`${channel}:`) ? jid.slice(channel.length + 1) : jid.split('@', 1)[0];
  const wanted = folderNameLike(name) || sanitise(`${channel}-${id}`) || 'chat';
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`;
    const candidate = wanted.slice(0, 63 - suffix.length).replace(/-+$/, '') + suffix;
    if (!RESERVED.has(candidate) && !isTaken(candidate)) return candidate;
  }
}

/** Turns a text into the name of a folder: `Família 2` becomes `familia-2`; empty when no character is left. */
export function folderNameLike(text: string): string {
  return sanitise(text.normalize('NFKD').replace(/\p{M}+/gu, ''));
}

function sanitise(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

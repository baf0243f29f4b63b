import type { Update } from 'grammy/types';

/** The pictures of an album come one after the other, each a message of its own, within about a second. */
export const ALBUM_PAUSE_MS = 1_000;
/** An album has at most ten parts. */
export const MOST_ALBUM_LOOKS = 10;

/** Names the album of an update; null for any other. */
export function albumOf(update: Update | undefined): string | null {
  const message = update?.message;
  if (message?.media_group_id === undefined) return null;
  return `${message.chat.id} ${message.media_group_id}`;
}

/** Returns updates in their order, the parts of an album together. */
export function together(updates: readonly Update[]): readonly (readonly Update[])[] {
  const albums = new Map<string, Update[]>();
  const units: Update[][] = [];
  for (const update of updates) {
    const album = albumOf(update);
    const known = album === null ? undefined : albums.get(album);
    if (known !== undefined) {
      known.push(update);
      continue;
    }
    const unit = [update];
    if (album !== null) albums.set(album, unit);
    units.push(unit);
  }
  return units;
}

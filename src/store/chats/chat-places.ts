import { z } from 'zod';
import { AT_HOME, type Places } from '../../lib/machines.ts';
import type { Meta } from '../meta.ts';

const StoredPlace = z.object({
  machine: z.string().min(1).max(64).nullable(),
  needs: z.array(z.string().min(1).max(64)).max(16),
});

/** The key of a folder's place in the table of small facts. */
export const placeKey = (folder: string): string => `place.${folder}`;

/** The key of the last number that a container of this folder on another machine was given. */
export const fenceKey = (folder: string): string => `fence.${folder}`;

/** Opens where chats run. @param now the time in milliseconds */
export function openPlaces(meta: Pick<Meta, 'get' | 'set' | 'remove'>, now: () => number): Places {
  return {
    of(folder) {
      const kept = meta.get(placeKey(folder));
      return kept === null ? AT_HOME : StoredPlace.parse(JSON.parse(kept));
    },
    set(folder, place) {
      const isHome = place.machine === null && place.needs.length === 0;
      if (isHome) meta.remove(placeKey(folder));
      else meta.set(placeKey(folder), JSON.stringify(place));
    },
    nextFence(folder) {
      // A store that was restored from a backup has forgotten numbers; the clock has not.
      const next = Math.max(Number(meta.get(fenceKey(folder)) ?? 0) + 1, Math.floor(now()));
      meta.set(fenceKey(folder), String(next));
      return next;
    },
  };
}

import type { TreeFile, Versions } from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';

type Sides = Versions<Buffer | null>;

/** Returns a structured conflict at a key of a file, such as `docker-compose.yml#services.redis.ports`. */
export function disagreement(
  path: string,
  layers: readonly [ours: string, theirs: string],
  detail: {
    readonly reason: string;
    readonly sides: Sides;
    readonly values: Versions<unknown>;
  },
): Conflict {
  return { ...conflictOf('structured', path, layers, detail), values: detail.values };
}

/** Returns a conflict over a whole file that cannot be taken apart by key. */
export function unreadable(
  path: string,
  layers: readonly [ours: string, theirs: string],
  detail: { readonly reason: string; readonly sides: Sides },
): Conflict {
  return conflictOf('content', path, layers, detail);
}

/** Returns a conflict between a deletion of the file and a change of it. */
export function modifyDelete(
  path: string,
  layers: readonly [ours: string, theirs: string],
  detail: { readonly reason: string; readonly sides: Sides },
): Conflict {
  return conflictOf('modify-delete', path, layers, detail);
}

function conflictOf(
  kind: Conflict['kind'],
  path: string,
  layers: Conflict['layers'],
  { reason, sides }: { readonly reason: string; readonly sides: Sides },
): Conflict {
  const { base, ours, theirs } = sides;
  return {
    path,
    kind,
    layers,
    reason,
    hunks: [],
    sides: { base: fileOf(base), ours: fileOf(ours), theirs: fileOf(theirs) },
    values: null,
  };
}

// Modes do not take part in a merge by key, and no structured file is a program.
function fileOf(bytes: Buffer | null): TreeFile | null {
  return bytes === null ? null : { bytes, isExecutable: false };
}

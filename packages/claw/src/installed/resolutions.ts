import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ClawError } from '../errors.ts';
import { RESOLUTIONS } from './claw-folder.ts';
import { readTreeFile } from './disk.ts';
import type { Resolution } from './resolution.ts';
import { parseResolution } from './resolution-file.ts';
import type { State } from './state-file.ts';

/** Returns the path of a recording. */
export function resolutionPath(key: string): string {
  return `${RESOLUTIONS}/${key}.yaml`;
}

/**
 * Returns every recording of the project, whatever its origin; those whose bytes `state.yaml` pins as its own
 * are this installation's.
 *
 * @throws ClawError RESOLUTION_INVALID
 */
export function readResolutions(root: string, state: State | null): readonly Resolution[] {
  return listKeys(root).map((key) => {
    const place = resolutionPath(key);
    const file = readTreeFile(root, place);
    if (file === null) {
      const message = `${place} is no regular file. Move it away and try again.`;
      throw new ClawError('FILE_KIND', message, { path: place });
    }
    const known = state?.resolutions.get(key);
    return parseResolution(file.bytes, { key, place, pinned: known?.own ? known.digest : null });
  });
}

function listKeys(root: string): readonly string[] {
  try {
    return readdirSync(join(root, RESOLUTIONS))
      .flatMap((name) => /^([0-9a-f]{16})\.yaml$/.exec(name)?.[1] ?? [])
      .sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const MARKERS = [join('.claw', 'state.yaml'), 'claw.config.yaml', '.git'];

/**
 * The project that a folder belongs to: the nearest folder upwards that has state, else the nearest
 * with a `claw.config.yaml`, else git's top folder, else the folder itself.
 */
export function findRoot(from: string): string {
  const start = resolve(from);
  for (const marker of MARKERS) {
    for (let folder = start; ; folder = dirname(folder)) {
      if (existsSync(join(folder, marker))) return folder;
      if (dirname(folder) === folder) break;
    }
  }
  return start;
}

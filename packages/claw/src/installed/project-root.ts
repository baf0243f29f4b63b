import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const MARKERS = [join('.claw', 'state.yaml'), 'claw.config.yaml', '.git'];

/**
 * Returns the project that a folder belongs to: the nearest folder upwards that has state or a
 * `claw.config.yaml` or is git's top folder, else the folder itself. The nearest, so that a project
 * never falls to one that happens to lie around it.
 */
export function findRoot(from: string): string {
  const start = resolve(from);
  for (let folder = start; ; folder = dirname(folder)) {
    if (MARKERS.some((marker) => existsSync(join(folder, marker)))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

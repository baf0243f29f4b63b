import type { Tree } from '@patchclaw/merge';
import { ClawError } from '../../errors.ts';
import { type OwnStructured, structuredPaths } from '../../structured/structured-kind.ts';
import type { Manifest } from '../manifest/manifest.ts';

const INTENT = '.intent.md';
const TEST =
  /^tests\/(.*\/)?(test_[^/]*\.py|[^/]*_test\.(py|go|rb)|[^/]*[._](test|spec)\.[cm]?[jt]sx?)$/;

/**
 * Sorts the files of a package by what the engine does with them: it writes those below `add/`, merges those below
 * `modify/`, and runs the tests below `tests/`, which it knows by their names. Notes on a changed file are no role.
 *
 * @param paths in the package
 * @returns paths of the project, and of tests the path in the package, each list sorted
 */
export function filesByRole(paths: Iterable<string>): {
  readonly adds: readonly string[];
  readonly modifies: readonly string[];
  readonly tests: readonly string[];
} {
  const all = [...paths].sort();
  const modified = new Set(below(all, 'modify/'));
  return {
    adds: below(all, 'add/'),
    modifies: [...modified].filter(
      (path) => !path.endsWith(INTENT) || !modified.has(path.slice(0, -INTENT.length)),
    ),
    tests: all.filter((path) => TEST.test(path)),
  };
}

function below(paths: readonly string[], folder: string): readonly string[] {
  return paths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
}

/**
 * Checks that the files of a package are the ones its manifest speaks of: all of them, and under
 * `add/`, `modify/` and `base/` nothing else. Files elsewhere (`SKILL.md`, tests, pictures) are free.
 *
 * @throws ClawError FILE_MISSING, then FILE_UNDECLARED, with the path inside the package
 */
export function checkContents(manifest: Manifest, files: Tree): void {
  const adds = new Set(manifest.adds.map((path) => `add/${path}`));
  const modifies = new Set(manifest.modifies.map((path) => `modify/${path}`));
  for (const path of [...adds, ...modifies]) {
    if (!files.has(path)) throw missing(path);
  }
  for (const path of manifest.test) {
    if (testFile(path, files) === null) throw missing(path);
  }
  const bases = new Set(
    [
      ...manifest.modifies,
      ...manifest.fileOps.flatMap((op) => (op.type === 'delete' ? [op.path] : [op.from, op.to])),
    ].map((path) => `base/${path}`),
  );
  for (const path of files.keys()) {
    const isNote = path.endsWith(INTENT) && modifies.has(path.slice(0, -INTENT.length));
    const isDeclared = adds.has(path) || modifies.has(path) || bases.has(path) || isNote;
    if (/^(add|modify|base)\//.test(path) && !isDeclared) {
      throw new ClawError(
        'FILE_UNDECLARED',
        `${path} is in the package but not in its manifest. Declare it or take it out.`,
        { path },
      );
    }
  }
}

/**
 * Returns the file of the package that a manifest's test entry means, or null. NanoClaw's manifests name the
 * place where a test lands in the project; ours name the place in the package.
 */
export function testFile(path: string, files: Tree): string | null {
  const inside = /^(?:\.claude\/)?skills\/[^/]+\/(.+)$/.exec(path)?.[1] ?? path;
  const places = [path, inside, `add/${path}`, `modify/${path}`];
  return places.find((place) => files.has(place)) ?? null;
}

/** @throws ClawError STRUCTURED_ONLY whose path is the structured file that a package touches */
export function checkStructured(targets: readonly string[], own: OwnStructured = {}): void {
  // Compared without case, as some disks do.
  const all = structuredPaths(own).map((path) => path.toLowerCase());
  const path = targets.find((target) => all.includes(target.toLowerCase()));
  if (path === undefined) return;
  throw new ClawError(
    'STRUCTURED_ONLY',
    `${path} is never replaced by a skill. Declare what it needs under \`structured\` instead.`,
    { path },
  );
}

/** @throws ClawError MARKERS_PRESENT with the path inside the package */
export function checkMarkers(files: Tree): void {
  for (const [path, { bytes }] of files) {
    if (/^(add|modify)\//.test(path) && hasConflictMarkers(bytes)) {
      throw new ClawError(
        'MARKERS_PRESENT',
        `${path} still holds conflict markers. Resolve them and pack the skill again.`,
        { path },
      );
    }
  }
}

/**
 * Tells whether a text holds a forgotten conflict: an opening marker line, a divider and a closing one, in
 * this order. A divider alone is a Markdown heading, an opening alone is prose. Binary files hold none.
 */
function hasConflictMarkers(bytes: Buffer): boolean {
  if (!bytes.includes('<<<<<<<') || bytes.includes(0)) return false;
  let next = 0;
  for (const line of bytes.toString('latin1').split('\n')) {
    const marker = MARKERS[next];
    if (marker?.test(line) !== true) continue;
    next += 1;
    if (next === MARKERS.length) return true;
  }
  return false;
}

const MARKERS = [/^<{7}( .*)?\r?$/, /^={7}\r?$/, /^>{7}( .*)?\r?$/];

function missing(path: string): ClawError {
  return new ClawError(
    'FILE_MISSING',
    `manifest.yaml names ${path}, but the package has no such file.`,
    { path },
  );
}

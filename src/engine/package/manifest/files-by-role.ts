const NOTE = '.intent.md';
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
      (path) => !path.endsWith(NOTE) || !modified.has(path.slice(0, -NOTE.length)),
    ),
    tests: all.filter((path) => TEST.test(path)),
  };
}

function below(paths: readonly string[], folder: string): readonly string[] {
  return paths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
}

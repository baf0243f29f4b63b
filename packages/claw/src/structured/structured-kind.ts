/** The kind of a structured file, which decides how it is composed and merged. */
export type StructuredKind = 'npm' | 'env' | 'compose' | 'container' | 'lock';

/**
 * Structured files of a codebase's own: path → kind, as `structured` of the release's `claw.config.yaml` has
 * them. Only the list of an image's packages has no place that every codebase agrees on.
 */
export type OwnStructured = Readonly<Record<string, 'container'>>;

const KINDS: ReadonlyMap<string, StructuredKind> = new Map([
  ['package.json', 'npm'],
  ['package-lock.json', 'lock'],
  ['npm-shrinkwrap.json', 'lock'],
  ['.env.example', 'env'],
  ['docker-compose.yml', 'compose'],
  ['docker-compose.yaml', 'compose'],
  ['compose.yml', 'compose'],
  ['compose.yaml', 'compose'],
]);

/** Lists the paths of all files that are never text-merged. */
export function structuredPaths(own: OwnStructured): readonly string[] {
  return [...KINDS.keys(), ...Object.keys(own)];
}

/** Returns the kind of a file that is never text-merged, or null for every other path. */
export function structuredKind(path: string, own: OwnStructured): StructuredKind | null {
  return KINDS.get(path) ?? (Object.hasOwn(own, path) ? 'container' : null);
}

/** Returns the kind of a file in which a key is disputed: it is a structured one. */
export function disputedKind(path: string): StructuredKind {
  return KINDS.get(path) ?? 'container';
}

/** The kind of a structured file, which decides how it is composed and merged. */
export type StructuredKind = 'npm' | 'env' | 'compose' | 'container' | 'lock';

const KINDS: ReadonlyMap<string, StructuredKind> = new Map([
  ['package.json', 'npm'],
  ['package-lock.json', 'lock'],
  ['npm-shrinkwrap.json', 'lock'],
  ['.env.example', 'env'],
  ['docker-compose.yml', 'compose'],
  ['docker-compose.yaml', 'compose'],
  ['compose.yml', 'compose'],
  ['compose.yaml', 'compose'],
  ['container/packages.json', 'container'],
]);

/** The paths of all files that are never text-merged. */
export const STRUCTURED_PATHS: readonly string[] = [...KINDS.keys()];

/** Returns the kind of a file that is never text-merged, or null for every other path. */
export function structuredKind(path: string): StructuredKind | null {
  return KINDS.get(path) ?? null;
}

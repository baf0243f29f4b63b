import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { isOwnValue, type OwnValues } from '../../operation/secrets.ts';
import type { StructuredKind } from '../../structured/structured-kind.ts';
import { dataOf } from '../../structured/value-edit.ts';

/** An edit, or a part of one, that no package took and that stays the owner's. */
export type LeftoverEdit = {
  readonly path: string;
  /** Keys of a structured file, such as `scripts.start`; none where the file as such stays. */
  readonly what: readonly string[];
  readonly why: string;
};

const CANNOT = {
  npm: 'a skill can bring packages, and nothing else of this file',
  env: 'a skill can add settings, and change none of the core’s',
  compose: 'a skill can add services, and change nothing else of this file',
  container: 'a skill can add packages to the image, and nothing else',
  lock: 'npm writes it',
} as const;

/**
 * Returns the parts of a structured file that a package does not give, key by key; empty if the two agree.
 *
 * @param given the file as it would be composed
 * @param wanted the file as the owner has it
 */
export function leftOfStructured(
  path: string,
  given: TreeFile | null,
  wanted: TreeFile | null,
  { own, kind }: { readonly own: OwnValues; readonly kind: StructuredKind },
): readonly LeftoverEdit[] {
  const now = leavesOf(wanted === null ? {} : dataOf(kind, wanted.bytes));
  const there = leavesOf(given === null ? {} : dataOf(kind, given.bytes));
  const names = [...new Set([...now.keys(), ...there.keys()])].sort();
  const differing = names.filter((name) => now.get(name) !== there.get(name));
  const isHidden = (name: string) => isOwnValue(own, name, unquoted(now.get(name)));
  const hidden = kind === 'env' ? differing.filter(isHidden) : [];
  const rest = differing.filter((name) => !hidden.includes(name));
  return [
    ...(rest.length === 0 ? [] : [{ path, what: rest, why: CANNOT[kind] }]),
    ...(hidden.length === 0
      ? []
      : [{ path, what: hidden, why: 'its value is the one in your .env' }]),
  ];
}

/**
 * Compares two versions of a structured file to the byte, beyond {@link leftOfStructured}. If they differ only in
 * form, such as the order of keys or comments, the file itself stays an edit.
 */
export function leftInTree(
  path: string,
  given: TreeFile | null,
  wanted: TreeFile | null,
  by: { readonly own: OwnValues; readonly kind: StructuredKind | null },
): readonly LeftoverEdit[] {
  const { own, kind } = by;
  if (kind === null || isSameFile(given, wanted)) return [];
  const left = leftOfStructured(path, given, wanted, { own, kind });
  if (left.length > 0) return left;
  return [{ path, what: [], why: 'its layout, order or comments are yours' }];
}

/** Returns every value by the path of its keys. */
function leavesOf(data: unknown, at: readonly string[] = []): ReadonlyMap<string, string> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return new Map([[at.join('.'), JSON.stringify(data) ?? '']]);
  }
  return new Map(
    Object.entries(data).flatMap(([key, value]) => [...leavesOf(value, [...at, key])]),
  );
}

function unquoted(written: string | undefined): string {
  const value: unknown = written === undefined ? '' : JSON.parse(written);
  return typeof value === 'string' ? value : '';
}

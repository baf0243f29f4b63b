import type { DataOf } from '../../contract/result.ts';

type PackData = DataOf<'pack'>;

/** Data of a package that was made or renewed. */
type MadePackage = Extract<PackData, { readonly left: unknown }>;
type RenewedPackage = Extract<PackData, { readonly folded: unknown }>;

/** Returns the data of a renewed package; null if edits conflict with it. */
export function renewedPackage(data: DataOf<'pack' | 'dev'> | null): RenewedPackage | null {
  return data !== null && 'folded' in data ? data : null;
}

/**
 * Returns lines about edits that went into a package and about parts for its author to write; empty if the package is
 * blocked.
 */
export function packLines(data: PackData): readonly string[] {
  return 'left' in data ? madeLines(data) : [];
}

function madeLines(made: MadePackage): readonly string[] {
  const { left, toWrite } = made;
  const taken =
    'folded' in made && made.folded.length > 0
      ? [`In ${made.skill} ${made.version} now: ${made.folded.join(', ')}`]
      : [];
  const stays = left.map(({ path, what, why }) => {
    const keys = what.length === 0 ? '' : ` (${shown(what)})`;
    return `  ${path}${keys}: ${why}`;
  });
  return [
    ...taken,
    ...(stays.length === 0
      ? []
      : ['Left out, and still your edits (claw customize records them):']),
    ...stays,
    ...(toWrite.length === 0 ? [] : ['Left for you to write:']),
    ...toWrite.map(({ path, sections }) =>
      sections.length === 0 ? `  ${path}: what must hold` : `  ${path}: ${sections.join(', ')}`,
    ),
  ];
}

type SessionData = Extract<DataOf<'dev'>, { readonly rounds: number }>;

/** Returns lines about the end of a session of `claw dev`. */
export function sessionLines({ skill, version, isIn, isUntried }: SessionData): readonly string[] {
  const rest = isUntried
    ? ' Your last edits were not tried to the end: they are not in it yet, and stay edits in the tree.'
    : isIn
      ? ''
      : ' Your last edits failed and are not in it; they are in the tree.';
  return [`Ended. ${skill} is at ${version}.${rest}`];
}

function shown(keys: readonly string[]): string {
  const rest = keys.length - 4;
  return keys.slice(0, 4).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

import type { VerbResult } from '../../engine/commands.ts';

/** What `claw pack` made, left out and left to its author. */
export type PackData = {
  readonly skill?: string;
  readonly version?: string;
  readonly folded?: readonly string[];
  readonly toWrite?: readonly { readonly path: string; readonly sections: readonly string[] }[];
  readonly left?: readonly {
    readonly path: string;
    readonly what: readonly string[];
    readonly why: string;
  }[];
} | null;

/** What happened to edits, and what waits for words of the author. */
export function packLines(data: PackData): readonly string[] {
  const { folded = [], left = [], toWrite = [] } = data ?? {};
  const taken =
    folded.length === 0 ? [] : [`In ${data?.skill} ${data?.version} now: ${folded.join(', ')}`];
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
    ...(toWrite.length === 0 ? [] : ['Still to be written, in your words:']),
    ...toWrite.map(({ path, sections }) =>
      sections.length === 0 ? `  ${path}: what must hold` : `  ${path}: ${sections.join(', ')}`,
    ),
  ];
}

type Developed = {
  readonly skill: string;
  readonly version: string | null;
  readonly rounds?: number;
  readonly isIn: boolean;
  /** Whether it ended before the last save was tried to its end. */
  readonly isUntried?: boolean;
};

/** How `claw dev` ended; of one that was to run once, what it did. */
export function developedLines(
  result: VerbResult,
  once: () => readonly string[],
): readonly string[] {
  const { skill, version, rounds, isIn, isUntried } = result.data as Developed;
  if (rounds === undefined) return once();
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

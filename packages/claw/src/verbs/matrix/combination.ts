import { isSameFile } from '@patchclaw/merge';
import { checkCollisionsOf } from '../../compose/collisions.ts';
import { compose } from '../../compose/compose.ts';
import type { Composition } from '../../compose/composition.ts';
import { ClawError } from '../../errors.ts';
import { inferBases } from '../../operation/inference.ts';
import { checkOwnStructured } from '../../package/checks/targets.ts';
import { checkRelations, orderLayers } from '../../package/order.ts';
import type { SkillPackage } from '../../package/package.ts';
import type { MatrixCell, MatrixInput } from './input.ts';
import type { Combination } from './shares.ts';

/** A combination on the core: composed, or not even that. */
export type CompositionOutcome =
  | { readonly kind: 'excluded' }
  | { readonly kind: 'refused'; readonly error: ClawError }
  | {
      readonly kind: 'composed';
      /** With what they depend on, in canonical order. */
      readonly layers: readonly SkillPackage[];
      readonly composition: Composition;
      /** True if giving them in the other order makes the very same tree. */
      readonly isOrderless: boolean;
    };

/** Composes skills and their dependencies. Conflicts are part of the result, never an exception. */
export async function composeSkills(
  input: MatrixInput,
  names: readonly string[],
): Promise<CompositionOutcome> {
  try {
    const members = withNeeded(input, names);
    checkRelations(members);
    const { layers, composition } = await composeMembers(input, members);
    checkOwnStructured(members, composition.ownStructured);
    if (composition.conflicts.length === 0) {
      checkCollisionsOf(composition, { release: (path) => input.files.get(path) ?? null });
    }
    const turned = names.length > 1 ? await composeMembers(input, members.toReversed()) : null;
    const isOrderless = turned === null || isSameComposition(composition, turned.composition);
    return { kind: 'composed', layers, composition, isOrderless };
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    const isExcluded = error.code === 'SKILL_CONFLICT' && names.length > 1;
    return isExcluded ? { kind: 'excluded' } : { kind: 'refused', error };
  }
}

/** @throws ClawError the refusal of a skill that is needed */
function withNeeded({ known }: MatrixInput, names: readonly string[]): readonly SkillPackage[] {
  const members = new Map<string, SkillPackage>();
  const waiting = [...names];
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const found = known.get(name);
    if (members.has(name) || found === undefined) continue;
    if (found.kind === 'refused') throw refusalOf(found.name, found.error, names);
    members.set(name, found.package);
    waiting.push(...found.package.manifest.depends.map((needed) => needed.name));
  }
  return [...members.values()];
}

function refusalOf(name: string, error: ClawError, names: readonly string[]): ClawError {
  if (names.includes(name)) return error;
  const { code, message, path, data } = error;
  return new ClawError(code, `${name}, which is needed, is refused: ${message}`, { path, data });
}

async function composeMembers(
  { installation, files }: MatrixInput,
  members: readonly SkillPackage[],
) {
  const { packages } = await inferBases(installation, members, []);
  const layers = orderLayers(packages);
  const composition = compose({
    release: (path) => files.get(path) ?? null,
    layers,
    answers: { decisions: [], resolutions: installation.resolutions },
    pathMaps: installation.pathMaps,
  });
  return { layers, composition };
}

function isSameComposition(one: Composition, other: Composition): boolean {
  const paths = [...one.files.keys(), ...other.files.keys()];
  const isSameTree = paths.every((path) => {
    const [left, right] = [one.files.get(path), other.files.get(path)];
    return left !== undefined && right !== undefined && isSameFile(left.file, right.file);
  });
  return isSameTree && conflictsOf(one) === conflictsOf(other);
}

function conflictsOf({ conflicts }: Composition): string {
  return JSON.stringify(conflicts.map(({ path, kind, layers }) => [path, kind, layers]));
}

/** A combination on its way to a cell. */
export type Entry = {
  readonly combination: Combination;
  readonly composed: CompositionOutcome;
  readonly ms: number;
};

export type ComposedEntry = Extract<CompositionOutcome, { kind: 'composed' }>;

export type CellFailure = MatrixCell['failures'][number];

/** The result of proving a composition. */
export type Verdict = { readonly failures: readonly CellFailure[]; readonly ms: number };

/** Tells whether there is a tree to prove. */
export function isComposed(composed: CompositionOutcome): composed is ComposedEntry {
  return composed.kind === 'composed' && composed.composition.conflicts.length === 0;
}

/**
 * Returns the key by which combinations share a proof: a skill with its dependencies is the same alone and in
 * a pair.
 */
export function layersKey({ layers }: ComposedEntry): string {
  return layers.map(({ manifest }) => manifest.skill).join(' + ');
}

import { digestFile } from '../digest.ts';
import { ClawError } from '../errors.ts';
import type { LayerState, State } from '../installed/state-file.ts';
import { nearestNames } from '../package/nearest-names.ts';
import type { SkillPackage } from '../package/package.ts';

/** The place in git where a package was found. */
type PackageOrigin = { readonly source: string; readonly commit: string | null };

/**
 * Creates the function that pins a layer in `state.yaml`: as before if it is unchanged, freshly if it is new.
 */
export function pinning(
  state: State | null,
  sources: ReadonlyMap<string, string | PackageOrigin>,
  now: Date,
): (layer: SkillPackage) => LayerState {
  return (layer) => {
    const { manifest, digest, kind } = layer;
    const known = state?.layers.find(({ name }) => name === manifest.skill);
    if (known?.digest === digest) return known;
    const named = sources.get(manifest.skill) ?? known?.source ?? manifest.skill;
    const { source, commit } = typeof named === 'string' ? { source: named, commit: null } : named;
    return {
      name: manifest.skill,
      kind,
      version: manifest.version,
      source,
      ...(commit === null ? {} : { commit }),
      digest,
      installed: now.toISOString(),
      inferredBases: basesOf(layer),
    };
  };
}

function basesOf({ inferredBases, withoutBase }: SkillPackage): LayerState['inferredBases'] {
  const found = [...inferredBases].map(([path, file]) => [path, digestFile(file)] as const);
  return Object.fromEntries([
    ...found,
    ...[...withoutBase].map((path) => [path, 'unknown'] as const),
  ]);
}

/** @throws ClawError SKILL_NOT_APPLIED with the nearest applied names in `data.nearest` */
export function requireApplied(state: State, name: string): LayerState {
  const found = state.layers.find((layer) => layer.name === name);
  if (found) return found;
  const applied = state.layers.map((layer) => layer.name);
  const nearest = nearestNames(name, applied, 3);
  const shown = nearest.length > 0 ? nearest : applied.slice(0, 5);
  const hint = shown.length > 0 ? ` Applied: ${shown.join(', ')}.` : ' No skill is.';
  throw new ClawError('SKILL_NOT_APPLIED', `The skill "${name}" is not applied here.${hint}`, {
    data: { nearest },
  });
}

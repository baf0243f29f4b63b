import { type Digest, digestBytes, digestTree } from '../digest.ts';
import type { Manifest, Origin } from './manifest/manifest.ts';
import type { SkillPackage } from './package.ts';

/**
 * Returns the digest of what a package changes: its files, moves and declarations. Words about them
 * (`SKILL.md`, notes, tests, the version) are left out.
 *
 * Packages keep this digest: a new key of the manifest counts only where it is not the default, so that a
 * package of an earlier engine is still known.
 */
export function changeDigest({
  files,
  manifest,
}: Pick<SkillPackage, 'files' | 'manifest'>): Digest {
  const changed = [...files].filter(
    ([path]) => /^(add|modify|base)\//.test(path) && !path.endsWith('.intent.md'),
  );
  const { adds, modifies, fileOps, structured } = manifest;
  const envAdditions = structured.envAdditions.map(({ isOptional, ...entry }) =>
    isOptional ? { ...entry, isOptional } : entry,
  );
  const said = JSON.stringify({
    adds,
    modifies,
    fileOps,
    structured: { ...structured, envAdditions },
  });
  return digestBytes(`${digestTree(new Map(changed)).digest}\0${said}`);
}

/** Returns where a package came from; null where nothing says so, or it was edited since. */
export function originOf(layer: SkillPackage): Origin | null {
  const { origin } = layer.manifest;
  return origin !== null && origin.of === changeDigest(layer) ? origin : null;
}

/** Tells whether a package names or declares anything at all that a tree could have otherwise. */
export function hasChanges({ adds, modifies, fileOps, structured }: Manifest): boolean {
  const { npmDependencies, envAdditions, composeServices, container } = structured;
  const declared = [npmDependencies, composeServices, container.npmDependencies];
  return (
    adds.length + modifies.length + fileOps.length > 0 ||
    envAdditions.length + container.aptPackages.length > 0 ||
    declared.some((one) => Object.keys(one).length > 0)
  );
}

import type { SkillPackage } from '../package.ts';
import { type PackageOptions, packageFromFiles } from '../package-from-files.ts';
import { readPackage } from '../read-package.ts';
import type { FetchEdges, PackageSource } from './sources.ts';

/** A package, and which commit of a git repository it is; null for any other source. */
export type OpenedPackage = { readonly package: SkillPackage; readonly commit: string | null };

/**
 * Fetches a package from wherever it is and checks it. Nothing is written below the project.
 *
 * @throws ClawError SOURCE_FAILED, SKILL_NOT_FOUND, INTERRUPTED, and every refusal of a package
 */
export async function openPackage(
  found: PackageSource,
  options: PackageOptions,
  edges: FetchEdges,
): Promise<OpenedPackage> {
  if (found.kind === 'folder') return { package: readPackage(found.folder, options), commit: null };
  // Loads the code for unpacking and fetching only where it is needed.
  const { files, irregular, commit } =
    found.kind === 'tarball'
      ? await (await import('./tarball.ts')).readTarball(found.file)
      : await (await import('./git.ts')).fetchGit(found.address, found.source, edges);
  return { package: packageFromFiles(files, options, irregular), commit };
}

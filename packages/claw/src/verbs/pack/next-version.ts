import { compare, gt, inc, valid } from 'semver';
import { PACKAGES, packedPlace, unpackFiles } from '../../installed/claw-folder.ts';
import { parsePlainYaml } from '../../package/manifest/plain-yaml.ts';
import { isGitFolder, resolveCommit, runGit } from '../../repository/git.ts';

/** The parts of a version that can be raised. */
export const LEVELS = ['patch', 'minor', 'major'] as const;
export type Level = (typeof LEVELS)[number];

/**
 * Returns the version of a changed package, raised once above the version that others may have. An unpublished
 * version stays, unless a level is requested.
 *
 * @param present the version in its manifest
 * @param published the version that others may have, or null
 */
export function nextVersion(
  present: string,
  published: string | null,
  level: Level | null,
): string {
  if (published === null) return level === null ? present : raised(present, level);
  const wanted = raised(published, level ?? 'patch');
  const isEnough = level === null ? gt(present, published) : compare(present, wanted) >= 0;
  return isEnough ? present : wanted;
}

/**
 * Finds the newest version of a package that is committed at HEAD, in its folder or among the applied ones. Null if
 * there is none; undefined if there is no git.
 */
export async function committedVersion(
  root: string,
  name: string,
  folder: string,
): Promise<string | null | undefined> {
  if (!isGitFolder(root)) return undefined;
  if ((await resolveCommit(root, 'HEAD')) === null) return null;
  const packed = packedPlace(name);
  const places = [`${folder}/manifest.yaml`, `${PACKAGES}/${name}/manifest.yaml`, packed];
  const listing = await runGit(root, ['ls-tree', '-z', '--name-only', 'HEAD', '--', ...places]);
  const there = listing
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '');
  const versions: string[] = [];
  for (const path of there) {
    const bytes = await runGit(root, ['show', `HEAD:${path}`]);
    const manifest = path === packed ? unpackFiles(bytes)?.get('manifest.yaml')?.bytes : bytes;
    const version = manifest === undefined ? null : versionIn(manifest);
    if (version !== null) versions.push(version);
  }
  return versions.sort(compare).at(-1) ?? null;
}

function raised(version: string, level: Level): string {
  return inc(version, level) ?? version;
}

/** Reads the version of a committed manifest, which may be any text. */
function versionIn(bytes: Buffer): string | null {
  try {
    const data = parsePlainYaml(bytes, 'manifest.yaml', { sizeBytes: 64 * 1024, depth: 16 });
    const version =
      typeof data === 'object' && data !== null && 'version' in data ? data.version : null;
    return typeof version === 'string' ? valid(version) : null;
  } catch {
    return null; // Not readable, so it was never applied.
  }
}

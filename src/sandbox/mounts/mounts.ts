import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mount } from '../engines/engine.ts';
import { MEDIA_DIR, mediaFolder } from '../sandbox.ts';

/** The project's own top-level entries that the main group's agent may read; nothing else is mounted. */
const PROJECT_ENTRIES = [
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'bin',
  'biome.json',
  'claw.config.yaml',
  'container',
  'docs',
  'package.json',
  'packages',
  'scripts',
  'skills',
  'src',
  'test',
  'tsconfig.json',
  'vitest.config.ts',
];

export type GroupPlaces = {
  readonly projectDir: string;
  readonly dataDir: string;
  readonly folder: string;
  readonly isMain: boolean;
  readonly socketDir: string;
  /** The folder of the agent's bundle. */
  readonly bundle: string;
  /** Names of its files. */
  readonly bundleFiles: readonly string[];
};

type FolderPlaces = Pick<GroupPlaces, 'projectDir' | 'dataDir' | 'folder'>;

/** Returns the mounts of a group that its container writes to. */
export function writableMounts(places: FolderPlaces): readonly Mount[] {
  const folders = writableFolders(places);
  return [
    { source: folders.group, target: '/workspace/group', isWritable: true },
    { source: folders.session, target: '/home/node/.claude', isWritable: true },
  ];
}

/** Returns the folders of a group that its container writes to, made before the container is. */
export function writableFolders(places: FolderPlaces): { group: string; session: string } {
  return {
    group: join(places.projectDir, 'groups', places.folder),
    session: join(places.dataDir, 'sessions', places.folder, '.claude'),
  };
}

/**
 * Returns the mount of `container/shared/`, files of the code that agents of every group may read; none if there is
 * no such folder.
 */
export async function sharedMounts(projectDir: string): Promise<readonly Mount[]> {
  const source = join(projectDir, 'container/shared');
  const found = await lstat(source).catch(() => null);
  // A link may lead anywhere.
  if (found?.isDirectory() !== true) return [];
  return [{ source, target: '/workspace/shared', isWritable: false }];
}

/**
 * Returns the host's files and folders that a group's container sees.
 *
 * The project's source is mounted entry by entry for the main group: a file that is not named (`.env`,
 * `data/`, other groups, anything added later) needs no mask that could be forgotten.
 *
 * @param present the names that exist at the top of the project as plain files or folders
 */
export function groupMounts(places: GroupPlaces, present: ReadonlySet<string>): readonly Mount[] {
  const { projectDir, isMain } = places;
  const mounts: Mount[] = [
    ...writableMounts(places),
    // Main's agent writes there by a tool of the host, whose guards see what is written.
    { source: join(projectDir, 'groups/global'), target: '/workspace/global', isWritable: false },
    { source: mediaFolder(places.dataDir, places.folder), target: MEDIA_DIR, isWritable: false },
    { source: places.socketDir, target: '/run/claw', isWritable: false },
    ...places.bundleFiles.map((name) => {
      return { source: join(places.bundle, name), target: `/opt/claw/${name}`, isWritable: false };
    }),
  ];
  if (!isMain) return mounts;
  for (const entry of PROJECT_ENTRIES.filter((name) => present.has(name))) {
    mounts.push({
      source: join(projectDir, entry),
      target: `/workspace/project/${entry}`,
      isWritable: false,
    });
  }
  return mounts;
}

import { accessSync, constants, existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Paths that a service is made of, all absolute. */
export type ServiceParts = {
  /** The installation. */
  readonly home: string;
  /** The pinned Node. */
  readonly node: string;
  /** A Node outside the packages, which is there also while those are half replaced. */
  readonly anyNode: string;
  readonly prepare: string;
  readonly start: string;
  /** The service's `PATH`, on which it finds Docker, bubblewrap, git and npm. */
  readonly path: string;
};

/** @param searchPath of the shell that installs; npm's own folders are left out, which vanish with the packages */
export function findServiceParts(home: string, searchPath: string): ServiceParts {
  const pinned = join(home, 'node_modules/node/bin/node');
  const node = existsSync(pinned) ? pinned : process.execPath;
  const folders = [...new Set(searchPath.split(':'))].filter(
    (folder) => isAbsolute(folder) && !/\/node_modules\/|\/node-gyp-bin/.test(`${folder}/`),
  );
  const other = folders.map((folder) => join(folder, 'node')).find(isExecutable);
  return {
    home,
    node,
    anyNode: other ?? node,
    prepare: join(home, 'scripts/prepare.js'),
    start: join(home, 'src/supervisor/entry.js'),
    path: folders.join(':'),
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run.
  }
}

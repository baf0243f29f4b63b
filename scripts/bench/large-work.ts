import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { listFolder } from '../../packages/claw/src/installed/claw-folder.ts';
import type { Codebase } from '../../src/testing/claw/codebase.ts';
import type { Work } from './timed-run.ts';

/** Packages are read from `skills/`, and of the project the files that they change, which are written. */
export function applyWork(codebase: Codebase): Work {
  return {
    read: [...filesIn(codebase, 'skills'), ...composedPaths(codebase)],
    write: copies(codebase, composedPaths(codebase)),
  };
}

/** All that `.claw/` commits is read, and the files that it concerns; on a bare core these are written. */
export function replayWork(codebase: Codebase, isBare: boolean): Work {
  const touched = composedPaths(codebase);
  const kept = ['base', 'packages', 'composed'].flatMap((name) =>
    filesIn(codebase, `.claw/${name}`),
  );
  return {
    read: [codebase.path('.claw/state.yaml'), ...kept, ...touched],
    write: isBare ? copies(codebase, touched) : [],
  };
}

/** One package and the files that it changes, as they are kept and on disk, and the state. */
export function removeWork(codebase: Codebase, skill: string): Work {
  const own = codebase.path(`.claw/packages/${skill}.package`);
  const changed = listFolder(codebase.path(`skills/${skill}/modify`));
  const kept = changed.map((path) => codebase.path(`.claw/composed/${path}`));
  const touched = changed.map(codebase.path);
  return {
    // A package that is not applied yet has none.
    read: [codebase.path('.claw/state.yaml'), own, ...kept, ...touched].filter((path) =>
      existsSync(path),
    ),
    write: copies(codebase, touched),
  };
}

function filesIn({ path }: Codebase, folder: string): readonly string[] {
  return listFolder(path(folder)).map((below) => path(`${folder}/${below}`));
}

function composedPaths({ path }: Codebase): readonly string[] {
  const paths = listFolder(path('.claw/composed')).map(path);
  return paths.filter((each) => existsSync(each));
}

function copies({ path }: Codebase, files: readonly string[]): Work['write'] {
  const folder = path('.git/bench');
  mkdirSync(folder, { recursive: true });
  return files.map((file, index) => [file, join(folder, String(index))] as const);
}

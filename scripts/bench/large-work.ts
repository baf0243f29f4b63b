import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { listFolder } from '../../src/engine/state/claw-folder.ts';
import type { Codebase } from '../../src/testing/claw/codebase.ts';
import type { Work } from './timed-run.ts';

/** Every file of the project is compared; nothing is written. */
export function statusWork(codebase: Codebase): Work {
  return { read: [codebase.path('.claw/state.yaml'), ...projectFiles(codebase)], write: [] };
}

/** Returns the files that `verify` reads: those of the project and those kept in `.claw/`. */
export function verifyWork(codebase: Codebase): Work {
  return { read: [...keptFiles(codebase), ...projectFiles(codebase)], write: [] };
}

/** The packages and the core are read; packages, core and composed files are kept, the tree written. */
export function applyWork(codebase: Codebase): Work {
  const made = [...keptFiles(codebase), ...composedPaths(codebase).map(codebase.path)];
  return { read: [], write: copies(codebase, made) };
}

/** All that is kept is read; on a bare core, every composed file is written. */
export function replayWork(codebase: Codebase, bare: Codebase | null): Work {
  const touched = composedPaths(codebase);
  const present = (bare ?? codebase).path;
  return {
    read: [...keptFiles(codebase), ...touched.map(present).filter((path) => existsSync(path))],
    write: bare === null ? [] : copies(codebase, touched.map(codebase.path)),
  };
}

/** One package and the files it touches, as they are kept and on disk; and the state. */
export function removeWork(codebase: Codebase, skill: string): Work {
  const folder = `.claw/packages/${skill}`;
  const own = listFolder(codebase.path(folder));
  const touched = own.flatMap((path) => /^(?:add|modify)\/(.+)$/.exec(path)?.[1] ?? []);
  const written = [
    '.claw/state.yaml',
    ...touched.flatMap((path) => [path, `.claw/composed/${path}`]),
  ].map(codebase.path);
  const read = own.map((path) => codebase.path(`${folder}/${path}`));
  return { read: [...read, ...written], write: copies(codebase, written) };
}

function keptFiles({ path }: Codebase): readonly string[] {
  const kept = ['base', 'packages', 'composed'].flatMap((folder) =>
    listFolder(path(`.claw/${folder}`)).map((below) => path(`.claw/${folder}/${below}`)),
  );
  return [path('.claw/state.yaml'), ...kept];
}

function composedPaths({ path }: Codebase): readonly string[] {
  return listFolder(path('.claw/composed'));
}

function projectFiles({ path }: Codebase): readonly string[] {
  return listFolder(path('src')).map((below) => path(`src/${below}`));
}

function copies({ path }: Codebase, files: readonly string[]): Work['write'] {
  const folder = path('.git/bench');
  mkdirSync(folder, { recursive: true });
  return files.map((file, index) => [file, join(folder, String(index))] as const);
}

import { relative, resolve, sep } from 'node:path';
import { join } from 'node:path/posix';
import { ClawError } from '../../errors.ts';
import type { Installation } from '../../installed/installation.ts';
import { isProjectPath, listProjectFiles } from '../../installed/project-files.ts';
import type { EngineContext } from '../../operation/context.ts';
import { lstat } from '../../package/regular-file.ts';

/** A file of the project, and the lines of it that are meant: all of them where `lines` is null. */
export type Place = {
  readonly path: string;
  readonly lines: { readonly from: number; readonly to: number } | null;
};

/**
 * Reads `file`, `file:line` or `file:from-to`; the file as seen from where the command runs, or from the
 * project's root.
 *
 * @throws ClawError USAGE for what is outside the project or no part of it, FILE_MISSING
 */
export async function findPlace(
  { root, cwd }: EngineContext,
  installation: Installation,
  argument: string,
): Promise<Place> {
  const isKnown = (path: string) =>
    installation.releaseDigests.files.has(path) || installation.state?.files.has(path) === true;
  const isThere = (path: string) => lstat(join(root, path)) !== null;
  const candidates = [splitPlace(argument), { file: argument, lines: null }].flatMap(
    ({ file, lines }) =>
      [cwd, root].map((from) => ({ path: relative(root, resolve(from, file)), lines })),
  );
  const inside = candidates
    .map(({ path, lines }) => ({ path: path.replaceAll(sep, '/'), lines }))
    .filter(({ path }) => path !== '' && !/^(\.\.(\/|$)|\/)/.test(path));
  const found = inside.find(({ path }) => isKnown(path) || isThere(path));
  if (inside.length === 0) throw wrong(argument, 'is not a file of this project. Name one that is');
  if (found === undefined) {
    const message = `There is no ${inside[0]?.path} here, and no layer took it away. Is the name right?`;
    throw new ClawError('FILE_MISSING', message, { path: inside[0]?.path ?? null });
  }
  if (isKnown(found.path)) return found;
  await refuseForeign(root, installation, found.path);
  return found;
}

/**
 * Returns the lines of a place, of a file that has `count`.
 *
 * @throws ClawError USAGE for lines that it does not have
 */
export function requireLines(
  { path, lines }: Place,
  count: number,
): { readonly from: number; readonly to: number } {
  if (lines === null) return { from: 1, to: count };
  const { from, to } = lines;
  if (from >= 1 && from <= to && from <= count) return { from, to: Math.min(to, count) };
  const has = `it has ${count} ${count === 1 ? 'line' : 'lines'}`;
  throw new ClawError(
    'USAGE',
    `${path} has no line ${from === to ? from : `${from}-${to}`}: ${has}.`,
    {
      path,
    },
  );
}

function splitPlace(argument: string): { readonly file: string; readonly lines: Place['lines'] } {
  const [, file, from, to] = /^(.+):(\d+)(?:-(\d+))?$/s.exec(argument) ?? [];
  if (file === undefined) return { file: argument, lines: null };
  return { file, lines: { from: Number(from), to: Number(to ?? from) } };
}

async function refuseForeign(root: string, { config }: Installation, path: string): Promise<void> {
  if (lstat(join(root, path))?.isDirectory()) throw wrong(path, 'is a folder. Name a file in it');
  if (path.startsWith('.claw/')) throw wrong(path, 'is claw’s own, not a file of the project');
  if (!isProjectPath(path, config)) {
    throw wrong(path, 'is not part of the core: no command but your own changes it');
  }
  // A link is left to who reads it, which says more.
  if (!lstat(join(root, path))?.isFile()) return;
  if ((await listProjectFiles(root, config)).includes(path)) return;
  throw wrong(path, 'is ignored by git, so it is neither the core’s nor an edit');
}

function wrong(path: string, what: string): ClawError {
  return new ClawError('USAGE', `${path} ${what}.`, { path });
}

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import { type JsonBounds, jsonWithin, MESSENGER_BOUNDS } from '../lib/bounded-json.ts';
import { text } from '../lib/bounded-schema.ts';
import type { LeftBehind, SourceFile } from './imported-items.ts';

/** More files than a person's notes are; a folder with more of them is a cache or a checkout. */
const MOST_FILES = 20_000;
const DEEPEST = 16;
const LINK = 'it is a link to another place';
/** A settings or memory file; a longer one is no such thing. */
const LONGEST_TEXT_BYTES = 16_777_216;
/** A list of thousands of sessions or tasks. */
const BOUNDS: JsonBounds = { ...MESSENGER_BOUNDS, maxValues: 1_000_000 };
/** Made by tools and systems everywhere, never by the owner. */
export const NEVER: ReadonlySet<string> = new Set([
  '.git',
  'node_modules',
  '.DS_Store',
  '__pycache__',
  '.venv',
]);

/**
 * Creates the schema of a name in a source that becomes a part of a path. The folder may be a stranger's: a name with a
 * slash would lead to other files of this machine, which an agent could then read.
 */
export function pathPart(maxLength = 200) {
  return text(maxLength).refine((name) => !/^\.{0,2}$|[/\\\0]/.test(name), {
    error: 'this is no name of a folder',
  });
}

/**
 * Reads a text file of a source; null if it does not exist, is reached by a link, or is longer than any such file.
 */
export function readSourceText(path: string): string | null {
  if (isBehindLink(path)) return null;
  let file: number | null = null;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > LONGEST_TEXT_BYTES) return null;
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch {
    return null; // A file that is not there, or that this user may not read, brings nothing.
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Reads a JSON file of a source by a schema; null if there is none that fits. */
export function readSourceJson<S extends z.ZodType>(path: string, schema: S): z.output<S> | null {
  const text = readSourceText(path);
  if (text === null) return null;
  return schema.safeParse(jsonWithin(text, BOUNDS)).data ?? null;
}

/** Lists the names in a folder; none if there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  if (!isFolder(folder)) return [];
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // No folder, no names.
  }
}

/** Tells whether a path is a folder itself, and no link to one. */
export function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() ?? false;
}

/** Tells whether a path is a file itself, and no link to one. */
export function isFile(path: string): boolean {
  return statsOf(path)?.isFile() ?? false;
}

/** Returns what is at a path itself; null also where a link leads to it. */
function statsOf(path: string): Stats | null {
  try {
    return isBehindLink(path) ? null : lstatSync(path);
  } catch {
    return null; // Nothing is there, a file stands where a folder would be, or this user may not look.
  }
}

/** Tells whether a folder above a path is a link, or cannot be found: the path is then none of the source's own. */
function isBehindLink(path: string): boolean {
  try {
    return realpathSync(dirname(path)) !== dirname(path);
  } catch {
    return true; // It is not there, or goes round in a circle.
  }
}

/**
 * Lists the files below a folder by their paths there. Links are never followed: one could lead to any file of the
 * machine.
 */
export function filesBelow(
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
): { readonly paths: readonly string[]; readonly leftBehind: readonly LeftBehind[] } {
  const paths: string[] = [];
  const leftBehind: LeftBehind[] = [];
  const leave = (path: string, why: string) =>
    void leftBehind.push({ what: join(folder, path), why });
  const visit = (at: string, depth: number): void => {
    for (const name of namesIn(join(folder, at))) {
      const path = at === '' ? name : `${at}/${name}`;
      if (NEVER.has(name) || isLeftOut(path)) continue;
      const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
      if (stats?.isDirectory() && depth < DEEPEST) visit(path, depth + 1);
      else if (stats?.isDirectory()) leave(path, `folders come up to ${DEEPEST} deep`);
      else if (stats?.isFile() && paths.length < MOST_FILES) paths.push(path);
      else if (stats?.isSymbolicLink()) leave(path, LINK);
      else if (stats === undefined) leave(path, 'its name is no UTF-8, or it has just gone');
      else if (!stats.isFile()) leave(path, 'it is no file, but a pipe, a socket or a device');
    }
  };
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) leave('', LINK);
  visit('', 0);
  if (paths.length === MOST_FILES) {
    leftBehind.push({ what: `more files in ${folder}`, why: `${MOST_FILES} files at most come` });
  }
  return { paths, leftBehind };
}

/** Makes items of the files below a folder, copied as they are. */
export function copiesOf(
  root: string,
  paths: readonly string[],
  to: {
    readonly folder: string | null;
    readonly below?: string;
    readonly kind: SourceFile['kind'];
  },
): readonly SourceFile[] {
  return paths.map((path) => ({
    folder: to.folder,
    path: to.below === undefined ? path : `${to.below}/${path}`,
    kind: to.kind,
    content: { kind: 'copy', from: join(root, path) },
  }));
}

/** Finds the SKILL.md skills right below a folder and takes each with the files beside it. */
export function skillsIn(
  folder: string,
  toGroup: string | null,
  isTheirs: (name: string) => boolean = () => false,
): { readonly files: readonly SourceFile[]; readonly leftBehind: readonly LeftBehind[] } {
  const all = namesIn(folder).filter((name) => !NEVER.has(name) && !isTheirs(name));
  const names = all.filter((name) => isFile(join(folder, name, 'SKILL.md')));
  const others = all.filter((name) => !names.includes(name));
  const found = names.map((name) => {
    const { paths, leftBehind } = filesBelow(join(folder, name));
    const to = { folder: toGroup, below: `skills/${name}`, kind: 'skill' } as const;
    return { files: copiesOf(join(folder, name), paths, to), leftBehind };
  });
  return {
    files: found.flatMap(({ files }) => files),
    leftBehind: [
      ...found.flatMap(({ leftBehind }) => leftBehind),
      ...others.map((name) => ({ what: join(folder, name), why: 'no skill: it has no SKILL.md' })),
    ],
  };
}

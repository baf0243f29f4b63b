import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { type JsonBounds, jsonWithin, MESSENGER_BOUNDS } from '../lib/bounded-json.ts';
import type { LeftBehind, SourceFile } from './items.ts';

/** More files than a person's notes are; a folder with more of them is a cache or a checkout. */
const MOST_FILES = 20_000;
const DEEPEST = 16;
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

/** Reads a text file of a source; null where there is none, or it is a link or longer than any such file. */
export function readSourceText(path: string): string | null {
  try {
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.size > LONGEST_TEXT_BYTES) return null;
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch {
    return null; // A file that is not there, or that this user may not read, brings nothing.
  }
}

/** Reads a JSON file of a source by a schema; null where there is none that fits. */
export function readSourceJson<S extends z.ZodType>(path: string, schema: S): z.output<S> | null {
  const text = readSourceText(path);
  if (text === null) return null;
  return schema.safeParse(jsonWithin(text, BOUNDS)).data ?? null;
}

/** Lists the names in a folder; none where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
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

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null; // Nothing is there, a file stands where a folder would be, or this user may not look.
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
  const visit = (at: string, depth: number): void => {
    for (const name of namesIn(join(folder, at))) {
      const path = at === '' ? name : `${at}/${name}`;
      if (NEVER.has(name) || isLeftOut(path)) continue;
      const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
      if (stats?.isDirectory() && depth < DEEPEST) visit(path, depth + 1);
      else if (stats?.isFile() && paths.length < MOST_FILES) paths.push(path);
      else if (stats?.isSymbolicLink()) {
        leftBehind.push({ what: join(folder, path), why: 'it is a link to another place' });
      }
    }
  };
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

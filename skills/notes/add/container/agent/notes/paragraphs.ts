import { open, readdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { shortened } from '../../../src/lib/graphemes.ts';

/** Limits of a search: bytes of one file, and files of a folder. */
const MAX_BYTES = 2_097_152;
const MAX_FILES = 4_000;
/** Files that are open at once: a process may have some thousand, and other tools run beside this one. */
const AT_ONCE = 16;
const SHOWN = 700;
/** The most paragraphs that are kept: hundreds of large files may hold the words in each. */
export const MOST_FOUND = 50;

/** A paragraph that was found. */
export type Found = {
  readonly path: string;
  /** The number of its first line. */
  readonly line: number;
  readonly text: string;
  /** The number of different words of the search that are in it. */
  readonly score: number;
};

/** What a search came to. */
export type Search = {
  readonly found: readonly Found[];
  /** The number of those that were found beside them. */
  readonly more: number;
  /** Files and folders that are there and could not be read. */
  readonly unread: readonly string[];
};

/** Searched files and folders, by their absolute paths; of a folder its Markdown files count. */
export type Searched = { readonly files: readonly string[]; readonly folders: readonly string[] };

/**
 * Finds paragraphs by words, in any order, case and accents: those with the most of them first, and of equals the
 * newest, as dated files and their lower lines are.
 */
export async function searchParagraphs(searched: Searched, query: string): Promise<Search> {
  const words = [...new Set(plain(query).split(/[^\p{L}\p{N}]+/u))].filter((word) => word !== '');
  if (words.length === 0) return { found: [], more: 0, unread: [] };
  const unread: string[] = [];
  const below = await Promise.all(searched.folders.map((folder) => markdownIn(folder, unread)));
  const waiting = [...searched.files, ...below.flat()].values();
  let found: readonly Found[] = [];
  let count = 0;
  const readNext = async () => {
    for (const path of waiting) {
      const text = await textOf(path, unread);
      const here = foundIn({ path, text }, words);
      count += here.length;
      const best = here.sort(byWorth).slice(0, MOST_FOUND).map(apart);
      found = [...found, ...best].sort(byWorth).slice(0, MOST_FOUND);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return { found, more: count - found.length, unread: unread.sort() };
}

/** Copies the text: a part of a string keeps the whole file in memory. */
function apart(found: Found): Found {
  return { ...found, text: Buffer.from(found.text).toString() };
}

function byWorth(one: Found, other: Found): number {
  return (
    other.score - one.score ||
    dayOf(other.path).localeCompare(dayOf(one.path)) ||
    one.path.localeCompare(other.path) ||
    other.line - one.line
  );
}

function foundIn(
  { path, text }: { readonly path: string; readonly text: string },
  words: readonly string[],
): Found[] {
  return paragraphsOf(text).flatMap(({ line, text: paragraph }) => {
    const said = plain(paragraph);
    const score = words.filter((word) => said.includes(word)).length;
    const shown = shortened(paragraph, SHOWN);
    return score === 0 ? [] : [{ path, line, text: shown, score }];
  });
}

/** Splits a text: blank lines end a paragraph, and each item of a list is one with what is indented below it. */
function paragraphsOf(text: string): readonly { readonly line: number; readonly text: string }[] {
  const found: { line: number; lines: string[] }[] = [];
  let isOpen = false;
  for (const [at, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = raw.trimEnd();
    if (line.trim() === '') {
      // A heading goes with the paragraph below it.
      isOpen = isOpen && isHeading(found.at(-1)?.lines.at(-1));
    } else if (isOpen && !/^([-*+]|\d+[.)])\s/.test(line) && !isHeading(line)) {
      found.at(-1)?.lines.push(line);
    } else {
      found.push({ line: at + 1, lines: [line] });
      isOpen = true;
    }
  }
  return found.map(({ line, lines }) => ({ line, text: lines.join('\n') }));
}

function isHeading(line: string | undefined): boolean {
  return line !== undefined && /^#{1,6}\s/.test(line);
}

async function markdownIn(folder: string, unread: string[]): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isThere(error)) unread.push(folder);
    return [];
  });
  return entries
    .filter((entry) => entry.isFile() && /\.md$/i.test(entry.name))
    .map(({ name }) => `${folder}/${name}`)
    .sort()
    .slice(-MAX_FILES);
}

/** Returns the end of a file, which is its newest part; nothing where there is no file, or it is in `unread` now. */
async function textOf(path: string, unread: string[]): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return '';
    const file = await open(path);
    try {
      const from = Math.max(0, found.size - MAX_BYTES);
      const length = found.size - from;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
      return buffer.subarray(0, bytesRead).toString();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isThere(error)) unread.push(path);
    return '';
  }
}

function isThere(error: unknown): boolean {
  return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
}

/** Returns a text in small letters without accents, so that `Müller` is found by `muller`. */
function plain(text: string): string {
  // Without its marks before as well: they are put in order one by one, a hundred thousand of them for seconds.
  return withoutMarks(withoutMarks(text).normalize('NFD')).toLowerCase();
}

function withoutMarks(text: string): string {
  return text.replace(/\p{M}+/gu, '');
}

/** Returns the day in a file's name; files without one are older than all days. */
function dayOf(path: string): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(basename(path))?.[0] ?? '';
}

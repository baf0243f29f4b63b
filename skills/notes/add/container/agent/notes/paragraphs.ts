import { open, readdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** Limits of a search: bytes of one file, and files of a folder. */
const MAX_BYTES = 2_097_152;
const MAX_FILES = 4_000;
const SHOWN = 700;

/** A paragraph that was found. */
export type Found = {
  readonly path: string;
  /** The number of its first line. */
  readonly line: number;
  readonly text: string;
  /** The number of different words of the search that are in it. */
  readonly score: number;
};

/** Searched files and folders, by their absolute paths; of a folder its Markdown files count. */
export type Searched = { readonly files: readonly string[]; readonly folders: readonly string[] };

/**
 * Finds paragraphs by words, in any order, case and accents: those with the most of them first, and of equals the
 * newest, as dated files and their lower lines are.
 */
export async function searchParagraphs(
  searched: Searched,
  query: string,
): Promise<readonly Found[]> {
  const words = [...new Set(plain(query).split(/[^\p{L}\p{N}]+/u))].filter((word) => word !== '');
  if (words.length === 0) return [];
  const below = await Promise.all(searched.folders.map(markdownIn));
  const paths = [...searched.files, ...below.flat()];
  const found = await Promise.all(paths.map((path) => foundIn(path, words)));
  return found
    .flat()
    .sort(
      (one, other) =>
        other.score - one.score ||
        dayOf(other.path).localeCompare(dayOf(one.path)) ||
        one.path.localeCompare(other.path) ||
        other.line - one.line,
    );
}

async function foundIn(path: string, words: readonly string[]): Promise<readonly Found[]> {
  const text = await textOf(path);
  return paragraphsOf(text).flatMap(({ line, text: paragraph }) => {
    const said = plain(paragraph);
    const score = words.filter((word) => said.includes(word)).length;
    const shown = paragraph.length > SHOWN ? `${paragraph.slice(0, SHOWN)} …` : paragraph;
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

async function markdownIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && /\.md$/i.test(entry.name))
    .map(({ name }) => `${folder}/${name}`)
    .sort()
    .slice(-MAX_FILES);
}

/** Returns the end of a file, which is its newest part; nothing where there is no file. */
async function textOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) return '';
  const file = await open(path).catch(() => null);
  if (file === null) return '';
  try {
    const from = Math.max(0, found.size - MAX_BYTES);
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(found.size - from),
      0,
      found.size - from,
      from,
    );
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await file.close();
  }
}

/** Returns a text in small letters without accents, so that `Müller` is found by `muller`. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Returns the day in a file's name; files without one are older than all days. */
function dayOf(path: string): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(basename(path))?.[0] ?? '';
}

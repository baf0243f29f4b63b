import { open, stat } from 'node:fs/promises';
import { ToolFault } from '../../../src/lib/tool-fault.ts';
import { inOwnProcess } from './in-own-process.ts';

/** The text of some pages, in their order, and the number of all pages. */
export type PdfText = { readonly pages: number; readonly texts: readonly string[] };

const MAX_BYTES = 100_000_000;
const TIMEOUT_MS = 30_000;
/** Thousands of pages take longer: those that are read by then are told. */
const MAX_MS = 15_000;
/** Below what a tool may return, with room for the lines around. */
const MAX_CHARS = 56_000;
const HEAD_BYTES = 1_024;

/** Tells whether a file begins as PDFs do, whatever its name. */
export async function isPdf(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead).includes('%PDF-');
  } finally {
    await file.close();
  }
}

/**
 * Returns the text of a PDF, page by page, as much as a tool may return.
 *
 * @param pages as people write them: `3`, `3-7`; all if left out
 * @throws Error in words for the model
 */
export async function readPdf(
  path: string,
  pages: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { from, to } = rangeOf(pages);
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new Error(`${path} cannot be read: it is larger than 100 MB.`);
  const read = inOwnProcess({
    name: 'pdf',
    input: { path, from, to, maxChars: MAX_CHARS, maxMs: MAX_MS },
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  const text = (await read.catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${path} cannot be read: ${reason}.`, { cause: error });
  })) as PdfText;
  return said(text, { from, to });
}

type PageRange = { readonly from: number; readonly to: number };

function rangeOf(pages: string | undefined): PageRange {
  if (pages === undefined) return { from: 1, to: Number.MAX_SAFE_INTEGER };
  const [, first, last = first] = /^\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?$/.exec(pages) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (from >= 1 && to >= from) return { from, to };
  throw new ToolFault('bad-arguments', 'Say which pages: "3", or "3-7".');
}

function said({ pages, texts }: PdfText, { from, to }: PageRange): string {
  if (from > pages) throw new ToolFault('bad-arguments', `The PDF has ${counted(pages)}.`);
  const end = from + texts.length - 1;
  if (texts.every((text) => text === '')) {
    return `The PDF has ${counted(pages)}. Pages ${from} to ${end} hold no text: they are pictures, such as a scan.`;
  }
  const parts = texts.map((text, index) => {
    return `--- page ${from + index} of ${pages} ---\n${text === '' ? '(no text: a picture)' : text}`;
  });
  const wanted = Math.min(to, pages);
  const more =
    end < wanted ? [`(Read on from page ${end + 1}, with pages "${end + 1}-${wanted}".)`] : [];
  return [...parts, ...more].join('\n\n');
}

function counted(pages: number): string {
  return pages === 1 ? '1 page' : `${pages} pages`;
}

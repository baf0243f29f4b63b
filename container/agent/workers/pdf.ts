/** A process that reads the text of some pages of a PDF. */
import { readFile } from 'node:fs/promises';
import { getDocumentProxy } from 'unpdf';
import { z } from 'zod';
import { answerParent } from '../files/in-own-process.ts';
import type { PdfText } from '../files/pdf.ts';

const Input = z.object({
  path: z.string(),
  from: z.int(),
  to: z.int(),
  /** Pages after this many characters, or after this time, are left for another call. */
  maxChars: z.int(),
  maxMs: z.int(),
});

const ERRORS: Readonly<Record<string, string>> = {
  PasswordException: 'it is encrypted: it can be read with its password only',
  InvalidPDFException: 'it is damaged, or no PDF',
  FormatError: 'it is damaged',
};

async function read(input: unknown): Promise<PdfText> {
  const { path, from, to, maxChars, maxMs } = Input.parse(input);
  const document = await getDocumentProxy(new Uint8Array(await readFile(path)), {
    // Nothing is drawn.
    disableFontFace: true,
    verbosity: 0,
  });
  // The number is the file's own word.
  if (document.numPages < 1) throw new RangeError('no page');
  const texts: string[] = [];
  let chars = 0;
  const last = Math.min(to, document.numPages);
  const isLate = () => texts.length > 0 && performance.now() > maxMs;
  for (let number = from; number <= last && chars < maxChars && !isLate(); number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items
      .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
      .join('')
      .trim();
    page.cleanup();
    texts.push(text);
    chars += text.length;
  }
  return { pages: document.numPages, texts };
}

await answerParent((input) =>
  read(input).then(
    (value) => ({ value }),
    (error: unknown) => ({
      error: (error instanceof Error && ERRORS[error.name]) || 'it is damaged, or no PDF',
    }),
  ),
);

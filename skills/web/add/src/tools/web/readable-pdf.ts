import { extractText, getDocumentProxy, getMeta } from 'unpdf';
import type { Readable } from './readable-html.ts';

const MOST_PAGES = 500;

/** Returns the text of a PDF file, page by page. A file of pictures has none. */
export async function readablePdf(bytes: Uint8Array): Promise<Readable> {
  const pdf = await getDocumentProxy(bytes, { disableFontFace: true });
  if (pdf.numPages > MOST_PAGES) {
    throw new RangeError(`it has ${pdf.numPages} pages, and ${MOST_PAGES} are the most`);
  }
  const { info } = await getMeta(pdf).catch(() => ({ info: {} as Record<string, unknown> }));
  const title = typeof info['Title'] === 'string' ? info['Title'].trim() : '';
  const { text } = await extractText(pdf, { mergePages: false });
  const pages = text.map((page, index) => `## Page ${index + 1}\n\n${page.trim()}`);
  const isEmpty = text.every((page) => page.trim() === '');
  return {
    title: title === '' ? null : title,
    text: isEmpty ? 'This PDF holds no text: its pages are pictures.' : pages.join('\n\n'),
  };
}

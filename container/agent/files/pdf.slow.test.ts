import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pdfOf } from '../../../src/testing/pdf.ts';
import { agentToolContext } from '../../../src/testing/turn/agent-tool-context.ts';
import { tool } from '../tools/read-file.ts';
import { inOwnProcess } from './in-own-process.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'claw-pdf-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function read(content: Buffer | string, over: object = {}, context = agentToolContext()) {
  const path = join(dir, 'invoice.txt');
  await writeFile(path, content);
  return await tool.run({ path, ...over }, context);
}

test('the text of a PDF is read by pages, whatever the file is called', async () => {
  const pdf = pdfOf({ pages: ['Invoice 7\nTotal: 12 EUR (net)', '', 'Thank you'] });
  expect(await read(pdf)).toBe(
    [
      '--- page 1 of 3 ---\nInvoice 7\nTotal: 12 EUR (net)',
      '--- page 2 of 3 ---\n(no text: a picture)',
      '--- page 3 of 3 ---\nThank you',
    ].join('\n\n'),
  );
  expect(await read(pdf, { pages: '3' })).toBe('--- page 3 of 3 ---\nThank you');
  expect(await read(pdf, { pages: '2 - 9' })).toContain('Thank you');
  await expect(read(pdf, { pages: '4' })).rejects.toThrow('The PDF has 3 pages.');
  await expect(read(pdf, { pages: 'all' })).rejects.toThrow('Say which pages: "3", or "3-7".');
});

test('a long PDF is read as far as a result may be, and the rest from there', async () => {
  const page = Array.from({ length: 40 }, (_, at) => `${at} ${'lorem ipsum '.repeat(8)}`).join(
    '\n',
  );
  const pdf = pdfOf({ pages: Array.from({ length: 40 }, () => page) });
  const text = await read(pdf);
  expect(text.length).toBeLessThan(65_536);
  const [, next = ''] = /\(Read on from page (\d+), with pages "\d+-40"\.\)$/.exec(text) ?? [];
  expect(await read(pdf, { pages: `${next}-40` })).toMatch(
    new RegExp(`^--- page ${next} of 40 ---`),
  );
});

test('a PDF whose pages take long is read as far as the time goes', async () => {
  const path = join(dir, 'thick.pdf');
  await writeFile(path, pdfOf({ pages: ['one', 'two', 'three'] }));
  const input = { path, from: 2, to: 9_999, maxChars: 9_999, maxMs: 0 };
  expect(await inOwnProcess({ name: 'pdf', input, timeoutMs: 60_000 })).toEqual({
    pages: 3,
    texts: ['two'],
  });
});

test('a PDF that has no text, is encrypted or broken says so', async () => {
  expect(await read(pdfOf({ pages: ['', ''] }))).toBe(
    'The PDF has 2 pages. Pages 1 to 2 hold no text: they are pictures, such as a scan.',
  );
  const refused = async (content: Buffer | string) =>
    await read(content).catch((error: unknown) => (error as Error).message);
  expect(await refused(pdfOf({ pages: ['secret'], isEncrypted: true }))).toContain(
    'invoice.txt cannot be read: it is encrypted: it can be read with its password only.',
  );
  expect(await refused(`%PDF-1.7\n${'nonsense '.repeat(1_000)}`)).toContain(
    'cannot be read: it is damaged, or no PDF.',
  );
  expect(await refused(pdfOf({ pages: ['x'] }).subarray(0, 40))).toContain('it is damaged');
  const lying = pdfOf({ pages: ['x'] })
    .toString('latin1')
    .replace('/Count 1', '/Count -5');
  expect(await refused(Buffer.from(lying, 'latin1'))).toContain('it is damaged');
});

test('a turn that ends does not wait for a PDF', async () => {
  const context = {
    ...agentToolContext(),
    signal: AbortSignal.abort(new Error('the turn is over')),
  };
  await expect(read(pdfOf({ pages: ['x'] }), {}, context)).rejects.toThrow('the turn is over');
});

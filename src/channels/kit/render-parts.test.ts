import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../testing/growth.ts';
import { type Notation, renderMarkdown } from './markdown.ts';
import { renderParts } from './render-parts.ts';

/** A notation in which everything can be seen. */
const SHOWN: Notation = {
  escape: (text) => text.replaceAll('<', '&lt;'),
  bold: (inner) => `<b ${inner}>`,
  italic: (inner) => `<i ${inner}>`,
  struck: (inner) => `<s ${inner}>`,
  code: (text) => `<code ${text}>`,
  codeBlock: (text, language) => `<block ${language} ${text}>`,
  quote: (inner, isWithinQuote) => `<quote ${isWithinQuote ? 'within' : 'outer'} ${inner}>`,
  link: (href, label) => `<link ${href} ${label}>`,
};

test.each([
  ['**bold** *italic* ~~gone~~ `code<`', '<b bold> <i italic> <s gone> <code code<>'],
  ['# A **strong** head\n\ntext', '<b A strong head>\n\ntext'],
  ['**a *b* __c__**', '<b a <i b> c>'],
  ['a < b', 'a &lt; b'],
  ['> one\n>> two', '<quote outer one\n<quote within two>>'],
  ['- one\n  - two\n- [x] done', '• one\n  • two\n• ☑ done'],
  ['2. one\n3. two', '2. one\n3. two'],
  ['```js\nlet a;\n```', '<block js let a;>'],
  ['[a **b**](https://x.y)', '<link https://x.y a <b b>>'],
  ['![pic](https://x.y/p)', '<link https://x.y/p pic>'],
])('%j is written as %j', (markdown, expected) => {
  expect(renderMarkdown(markdown, SHOWN)).toBe(expected);
});

test.each([
  [
    '| Name | Age |\n|------|----:|\n| Bob | 30 |\n| **Ann-Marie** | 7 |',
    'Name       Age\n─────────  ───\nBob         30\nAnn-Marie    7',
  ],
  [
    '|City|Flag|\n|:-:|-|\n|東京|🇯🇵 yes|\n|[Rome](https://r.it)|`it`|',
    '       City          Flag\n───────────────────  ──────\n       東京          🇯🇵 yes\nRome (https://r.it)  it',
  ],
  ['|a|b|\n|-|-|\n|1|', 'a  b\n─  ─\n1'],
])('the columns of the table %j are aligned, without marks', (markdown, expected) => {
  expect(renderMarkdown(markdown, SHOWN)).toBe(`<block null ${expected}>`);
});

test('a single long cell does not widen all rows', () => {
  const table = `|a|b|\n|-|-|\n${`|${'x'.repeat(3_000)}|1|\n`}${'|y|2|\n'.repeat(500)}`;
  expect(renderMarkdown(table, SHOWN).length).toBeLessThan(3_000 + 500 * 50);
});

test('a table that is too long for a message has its head in each', () => {
  const rows = Array.from({ length: 60 }, (_, at) => `| row ${at} | ${at * 7} |`);
  const text = `Prices:\n\n| Item | Price |\n|---|--:|\n${rows.join('\n')}\n\nDone.`;
  const parts = renderParts(text, SHOWN, { limit: 300 }).map((part) => part.text);
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(300);
  const tables = parts.filter((part) => part.includes('row '));
  expect(tables.length).toBeGreaterThan(3);
  for (const part of tables) expect(part).toMatch(/<block null Item {4,}Price\n─/);
  expect(parts.join('\n').match(/row \d+/g)).toEqual(rows.map((_, at) => `row ${at}`));
  expect(parts.at(-1)).toContain('Done.');
});

test('text that is nested without end arrives escaped', () => {
  const deep = `${'> '.repeat(5_000)}a < b`;
  expect(renderMarkdown(deep, SHOWN)).toBe(deep.replaceAll('<', '&lt;'));
});

test('parts that became too long are made of less, and nothing is lost', () => {
  const text = Array.from({ length: 60 }, (_, at) => `**w${at}** < x`).join('\n\n');
  const parts = renderParts(text, SHOWN, { limit: 100 });
  for (const { text: part } of parts) expect(part.length).toBeLessThanOrEqual(100);
  expect(parts.flatMap(({ plain }) => plain.match(/w\d+/g) ?? [])).toEqual(text.match(/w\d+/g));
  expect(renderParts(' \n\n ', SHOWN, { limit: 100 })).toEqual([]);
});

test('a text that becomes much longer is written twice, and not once for each step', () => {
  let written = 0;
  const longer: Notation = {
    ...SHOWN,
    escape(text) {
      written += text.length;
      return text.replaceAll('<', '<'.repeat(8));
    },
  };
  const text = '<'.repeat(800);
  const parts = renderParts(text, longer, { limit: 100 });
  expect(parts.map(({ plain }) => plain).join('')).toBe(text);
  expect(written).toBeLessThanOrEqual(2 * text.length);
});

test('a limit may count what is shown, and text that shows nothing is sent as it was written', () => {
  const lengthOf = (text: string) => text.replaceAll(/<[^>]*>/g, '').length;
  const [only, ...none] = renderParts('**bold**', SHOWN, { limit: 8, lengthOf });
  expect([only, none]).toEqual([{ text: '**bold**', plain: '**bold**' }, []]);
});

test('a long word of marks is read in a time that grows with its length, and arrives whole', () => {
  const plain: Notation = { ...SHOWN, italic: (inner) => `_${inner}_` };
  const word = '_a'.repeat(5_000);
  expect(renderMarkdown(word, plain)).toBe(word);
  const read = (size: number) => () => void renderMarkdown('_a'.repeat(size), plain);
  expect(costOfFourfold(2_000, read)).toBeLessThan(LINEAR_AT_MOST);
});

test('addresses after a long text are links all the same', () => {
  const long = 'word '.repeat(100);
  expect(renderMarkdown(`${long}ada@x.org and https://x.y/z`, SHOWN)).toBe(
    `${long}<link mailto:ada@x.org ada@x.org> and <link https://x.y/z https://x.y/z>`,
  );
  const emoji = '🐢'.repeat(300);
  expect(renderMarkdown(emoji, SHOWN)).toBe(emoji);
});

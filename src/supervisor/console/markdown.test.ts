import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { renderMarkdown } from './markdown.ts';
import { printable } from './printable.ts';

const plain = (text: string, columns = 80): string =>
  stripVTControlCharacters(renderMarkdown(text, columns));

test('headings, emphasis, code and links read well without their signs', () => {
  const text = '# Title\n\nSome **bold**, `code` and [a site](https://x.example).\n\n    block\n';
  expect(plain(text)).toBe('Title\n\nSome bold, code and a site (https://x.example).\n\n    block');
  expect(renderMarkdown('**bold**', 80)).toBe('\u001b[1mbold\u001b[22m');
});

test('an address is shown as it was written', () => {
  expect(plain('Books (120363@g.us), https://x.example')).toBe(
    'Books (120363@g.us), https://x.example',
  );
});

test('lists keep their order, their depth and their ticks', () => {
  expect(plain('3. c\n4. d\n   - e\n\n- [x] done\n- [ ] open')).toBe(
    '3. c\n4. d\n   • e\n\n• [x] done\n• [ ] open',
  );
});

test('a table is aligned by column', () => {
  expect(plain('| a | count |\n|---|---:|\n| **long** | 5 |')).toBe(
    'a     count\n────  ─────\nlong      5',
  );
});

test('a quotation is marked on every line', () => {
  expect(plain('> one\n> two')).toBe('│ one\n│ two');
});

test('control sequences in a message never reach the terminal', () => {
  const evil = 'a\u001b[2Jb\u001b]0;title\u0007c\u009b31m\rd\u0000';
  expect(printable(evil)).toBe('a[2Jb]0;titlec31md');
  for (const text of [evil, `\`${evil}\``, `# ${evil}`, `| ${evil} |\n|---|\n| ${evil} |`]) {
    expect(plain(text)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  }
});

test('text without markup goes through as it is', () => {
  expect(renderMarkdown('just words, 1 < 2 & 3 > 2', 80)).toBe('just words, 1 < 2 & 3 > 2');
});

test('entities are the characters they stand for, but not in code', () => {
  expect(plain('Tom &amp; Jerry &lt;3 &#8364;5 &#x2026; &mdash; `&amp;` &unknown;')).toBe(
    'Tom & Jerry <3 €5 … — &amp; &unknown;',
  );
  for (const text of ['a&#27;[2Jb', '[a&#27;[2Jb](https://x.example/&#27;[2J)', '**&#x1b;[2J**']) {
    expect(renderMarkdown(text, 80)).not.toContain('\u001b[2J');
  }
});

test('words are not broken at the edge, and lists and quotations keep their indentation', () => {
  expect(plain('one two three four', 9)).toBe('one two\nthree\nfour');
  expect(plain('- one two three\n  - four five', 9)).toBe('• one two\n  three\n  • four\n    five');
  expect(plain('> one two three', 9)).toBe('│ one two\n│ three');
  expect(plain('a incomprehensible b', 9)).toBe('a\nincompreh\nensible b');
});

test('width is counted in columns, not in characters', () => {
  expect(plain('日本 日本 日本', 9)).toBe('日本 日本\n日本');
  expect(plain('👩‍👩‍👧 👍🏽 e\u0301e\u0301', 5)).toBe('👩‍👩‍👧 👍🏽\ne\u0301e\u0301');
  expect(plain('| a | b |\n|---|---|\n| 日本 | x |')).toBe('a     b\n────  ─\n日本  x');
});

test('a style goes on behind a break and leaves the indentation alone', () => {
  const [dim, bold, end] = ['\u001b[2m', '\u001b[1m', '\u001b[22m'];
  expect(renderMarkdown('> **one two**', 5)).toBe(
    `${dim}│ ${end}${bold}one${end}\n${dim}│ ${end}${bold}two${end}`,
  );
});

test('a table without a head that is too wide is a list without empty names', () => {
  expect(plain('| | |\n|---|---|\n| systemd | install it first |', 12)).toBe(
    'systemd\ninstall it\nfirst',
  );
});

test('a table that is too wide is a list of its rows', () => {
  expect(plain('| name | count |\n|---|---:|\n| a | 1 |\n| b | 2 |', 8)).toBe(
    'name: a\ncount: 1\n\nname: b\ncount: 2',
  );
});

test('a block of the kind qr is drawn as a code, and one that is too long is text', () => {
  const drawn = renderMarkdown('Scan this:\n\n```qr\n2@abc,def==,ghi\n```', 20);
  const rows = drawn.split('\n').filter((line) => line.startsWith('\u001b[30;107m'));
  expect(rows.length).toBeGreaterThan(10);
  expect(drawn).not.toContain('2@abc');
  expect(renderMarkdown(`\`\`\`qr\n${'x'.repeat(600)}\n\`\`\``, 20)).toContain('x'.repeat(600));
});

import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { renderMarkdown } from './markdown.ts';
import { printable } from './printable.ts';

const plain = (text: string): string => stripVTControlCharacters(renderMarkdown(text));

test('headings, emphasis, code and links read well without their signs', () => {
  const text = '# Title\n\nSome **bold**, `code` and [a site](https://x.example).\n\n    block\n';
  expect(plain(text)).toBe('Title\n\nSome bold, code and a site (https://x.example).\n\n    block');
  expect(renderMarkdown('**bold**')).toBe('\u001b[1mbold\u001b[22m');
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
  expect(renderMarkdown('just words, 1 < 2 & 3 > 2')).toBe('just words, 1 < 2 & 3 > 2');
});

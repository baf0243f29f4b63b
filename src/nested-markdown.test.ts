import { expect, test } from 'vitest';
import { toWhatsApp } from './channels/whatsapp/format.ts';
import { renderMarkdown } from './terminal/markdown.ts';

const stairs = Array.from({ length: 800 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n');

test.each([
  ['quotes', `${'> '.repeat(40_000)}hello`],
  ['a list in lists', `${'- '.repeat(40_000)}hello`],
  ['numbers in numbers', `${'1. '.repeat(40_000)}hello`],
  ['both', `${'> - '.repeat(20_000)}hello`],
  ['steps', `${stairs} hello`],
  ['one sign', `hello ${'!'.repeat(300_000)}`],
  ['spaces', `hello${' '.repeat(200_000)}`],
])('what has no end is shown as it is, at once: %s', (_name, text) => {
  const begun = performance.now();
  expect(renderMarkdown(text, 80)).toContain('hello');
  expect(toWhatsApp(text)).toContain('hello');
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test('what people nest is shown as it is meant', () => {
  expect(toWhatsApp('> a\n> > - **b**')).toBe('> a\n> > - *b*');
});

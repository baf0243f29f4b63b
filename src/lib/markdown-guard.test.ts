import { expect, test } from 'vitest';
import { toWhatsApp } from '../channels/whatsapp/outbound/format.ts';
import { renderMarkdown } from '../supervisor/console/markdown.ts';
import { costOfFourfold, LINEAR_AT_MOST } from '../testing/growth.ts';

const stairs = (steps: number) =>
  Array.from({ length: steps }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n');

test.each<[string, (size: number) => string]>([
  ['quotes', (size) => `${'> '.repeat(size)}hello`],
  ['a list in lists', (size) => `${'- '.repeat(size)}hello`],
  ['numbers in numbers', (size) => `${'1. '.repeat(size)}hello`],
  ['both', (size) => `${'> - '.repeat(size / 2)}hello`],
  // So many steps are as many signs, by their square.
  ['steps', (size) => `${stairs(Math.sqrt(size) * 4)} hello`],
  ['one sign', (size) => `hello ${'!'.repeat(size * 8)}`],
  ['a word of marks', (size) => `${'_a'.repeat(size / 4)} hello`],
  ['spaces', (size) => `hello${' '.repeat(size * 5)}`],
])(
  'what has no end is shown as it is, and four times as much costs about four times: %s',
  (_name, make) => {
    const cost = costOfFourfold(10_000, (size) => {
      const text = make(size);
      return () => {
        expect(renderMarkdown(text, 80)).toContain('hello');
        expect(toWhatsApp(text)).toContain('hello');
      };
    });
    expect(cost).toBeLessThan(LINEAR_AT_MOST);
  },
);

test('nesting as people write it is rendered', () => {
  expect(toWhatsApp('> a\n> > - **b**')).toBe('> a\n> > - *b*');
});

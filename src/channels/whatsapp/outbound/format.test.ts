import { expect, test } from 'vitest';
import { formatParts, toWhatsApp } from './format.ts';

test.each([
  ['**bold** and *italic* and ~~gone~~', '*bold* and _italic_ and ~gone~'],
  ['# Title\n\ntext', '*Title*\n\ntext'],
  ['## A **strong** title', '*A strong title*'],
  ['use `a*b*c`', 'use `a*b*c`'],
  ['```js\nlet a = **b**;\n```', '```\nlet a = **b**;\n```'],
  ['- one\n- two\n  - three', '- one\n- two\n  - three'],
  ['3. one\n4. two', '3. one\n4. two'],
  ['- [x] done\n- [ ] open', '- ☑ done\n- ☐ open'],
  ['> said\n> so', '> said\n> so'],
  ['[here](https://a.b/c)', 'here (https://a.b/c)'],
  ['<https://a.b/c>', 'https://a.b/c'],
  ['| a | b |\n|---|---|\n| 1 | 2 |', '```\na  b\n─  ─\n1  2\n```'],
  ['**two\nlines**', '*two*\n*lines*'],
  ['a < b & c > d', 'a < b & c > d'],
  ['2 \\* 3', '2 * 3'],
])('%j becomes %j', (markdown, expected) => {
  expect(toWhatsApp(markdown)).toBe(expected);
});

test('a code block that spans parts is one in each of them', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index} ${'x'.repeat(40)}`);
  const parts = formatParts(`Before\n\n\`\`\`\n${lines.join('\n')}\n\`\`\`\n\nAfter`, 600);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) expect(part.match(/```/g)?.length ?? 0).toSatisfy((n) => n % 2 === 0);
  expect(parts.join('\n')).toContain(lines.at(-1));
});

test('text without words gives nothing to send', () => {
  expect(formatParts(' \n\n ')).toEqual([]);
});

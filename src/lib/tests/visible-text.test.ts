import { visible } from '@patchclaw/claw/text';
import { expect, test } from 'vitest';

/** The classes of UTS 36 and UTS 39 by other names than the code has for them. */
const CLASSES: readonly (readonly [name: string, points: RegExp])[] = [
  ['bidirectional', /\p{Bidi_C}/u],
  ['default ignorable: zero width, fillers, tags', /\p{DI}/u],
  ['variation selectors', /\p{VS}/u],
  ['join controls', /\p{Join_Control}/u],
  ['line breaks beside the line feed', /[\v\f\r\u0085\u2028\u2029]/u],
  ['controls', /(?!\n)\p{Cc}/u],
  ['format characters', /\p{Cf}/u],
  ['spaces beside the usual one', /(?![ \n])\p{White_Space}/u],
  ['private, unassigned and half characters', /\p{Co}|\p{Cn}|\p{Cs}/u],
];

test.each(CLASSES)('no character of the class shows as it is: %s', (_, points) => {
  let count = 0;
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (!points.test(character)) continue;
    count += 1;
    const shown = visible(`a${character}b`);
    if (!/^a\\u(?:[0-9a-f]{4}|\{[0-9a-f]{5,6}\})b$/.test(shown)) {
      expect.fail(`U+${code.toString(16)} is shown as ${JSON.stringify(shown)}`);
    }
  }
  expect(count).toBeGreaterThan(0);
});

test('blank signs that no property names are escaped, and so is a misleading character beside an emoji', () => {
  expect(visible('a\u2800b')).toBe('a\\u2800b');
  expect(visible('👍\ufe0f\u200d')).toBe('👍\\ufe0f\\u200d');
  expect(visible('🏴\u{e0067}\u{e007f}')).toBe('🏴\\u{e0067}\\u{e007f}');
});

test('letters, signs and whole emoji stay as they are', () => {
  const texts = [
    'Grüße, Ελληνικά, Русский, 日本語, العربية',
    '{"a": [1, 2]} `x` ~ € – “”',
    'one\ntwo',
  ];
  const emoji = ['👩‍👩‍👧‍👦', '❤️', '🏳️‍🌈', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '👍🏽', '🇩🇪', '⚠️'];
  for (const text of [...texts, ...emoji, `so ${emoji.join(' ')} it is`])
    expect(visible(text)).toBe(text);
});

test('a long run of spaces or of empty lines is its length, and the indentation of code stays', () => {
  expect(visible(`rm a${' '.repeat(3_000)}-rf /`)).toBe('rm a⟨3000 spaces⟩-rf /');
  expect(visible(`a${'\n'.repeat(50)}b`)).toBe('a\n⟨49 empty lines⟩\nb');
  const code = `if (x)\n${' '.repeat(24)}y();\n\n\nz`;
  expect(visible(code)).toBe(code);
});

test('a shown text does not change when it is shown again', () => {
  const text = `a\u202eb${' '.repeat(99)}c\u{e0041}${'\n'.repeat(9)}d👍🏽`;
  expect(visible(visible(text))).toBe(visible(text));
});

import { expect, test } from 'vitest';
import { askedShape, hasShape, type Shape } from '../../../src/services/pipeline/shape.ts';

test.each<[string, Shape | null]>([
  ['Answer in JSON with name and age', { kind: 'json' }],
  ['Gib mir nur gültiges JSON zurück', { kind: 'json' }],
  ['Why does JSON.parse fail here?', null],
  ['Compare the three phones as a table', { kind: 'table' }],
  ['Vergleiche sie als Tabelle', { kind: 'table' }],
  ['Compare-les sous forme de tableau', { kind: 'table' }],
  ['Only the code please', { kind: 'code' }],
  ['Is it open on Sunday? Answer yes or no.', { kind: 'yes-no' }],
  ['Hat er recht? Ja oder nein?', { kind: 'yes-no' }],
  ['Give me five names for a cat', { kind: 'list', count: 5 }],
  ['Nenne 3 Gründe', { kind: 'list', count: 3 }],
  ['List the 10 largest cities', { kind: 'list', count: 10 }],
  ['What do we need? As a list, please', { kind: 'list', count: null }],
  ['Explain it in at most 50 words', { kind: 'words', most: 50 }],
  ['Résume-le en une phrase', { kind: 'sentences', most: 1 }],
  ['Fass es in zwei Sätzen zusammen', { kind: 'sentences', most: 2 }],
  ['Remind me at 10 to call Ada', null],
  ['How are you?', null],
  [`Answer in JSON. ${'x'.repeat(3_000)}`, null],
])('%j asks for %j', (message, shape) => {
  expect(askedShape(message)).toEqual(shape);
});

test.each<[Shape, string, boolean]>([
  [{ kind: 'json' }, '```json\n{"a": 1}\n```', true],
  [{ kind: 'json' }, '{"a": 1}', true],
  [{ kind: 'json' }, 'Here it is: {"a": 1}', false],
  [{ kind: 'table' }, '| a | b |\n| --- | --- |\n| 1 | 2 |', true],
  [{ kind: 'table' }, 'a is 1, b is 2', false],
  [{ kind: 'code' }, '```js\nlet a = 1;\n```', true],
  [{ kind: 'code' }, 'Here is the code:\n```js\nlet a = 1;\n```', false],
  [{ kind: 'yes-no' }, '**Ja**, ab neun.', true],
  [{ kind: 'yes-no' }, 'Nobody knows.', false],
  [{ kind: 'list', count: 3 }, '1. a\n2. b\n   - more\n3. c', true],
  [{ kind: 'list', count: 3 }, '- a\n- b', false],
  [{ kind: 'list', count: null }, '- a\n- b', true],
  [{ kind: 'list', count: null }, 'a and b', false],
  [{ kind: 'words', most: 5 }, 'one two three four five', true],
  [{ kind: 'words', most: 5 }, 'one two three four five six seven', false],
  [{ kind: 'sentences', most: 1 }, 'It rains all day.', true],
  [{ kind: 'sentences', most: 1 }, 'It rains. It stops. It rains.', false],
])('as %j, %j fits: %s', (shape, answer, fits) => {
  expect(hasShape(answer, shape)).toBe(fits);
});

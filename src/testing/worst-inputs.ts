/** What a far end can send in the worst case: a JSON text of one size, made of one thing. */
export const WORST_INPUTS: Readonly<Record<string, (sizeBytes: number) => string>> = {
  'numbers in a list': (size) => repeated('[', '0,', '0]', size),
  'empty lists in a list': (size) => repeated('[', '[],', '[]]', size),
  'empty objects in a list': (size) => repeated('[', '{},', '{}]', size),
  'texts in a list': (size) => repeated('[', '"a",', '"a"]', size),
  'lists in each other': (size) => `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
  'objects in each other': (size) => `${'{"a":'.repeat(size / 6)}0${'}'.repeat(size / 6)}`,
  'one long text': (size) => `"${'x'.repeat(size - 2)}"`,
  'one long text of escapes': (size) => `"${'\\u00fc'.repeat((size - 2) / 6)}"`,
  'one long text of halves': (size) => `"${'\\ud83d'.repeat((size - 2) / 6)}"`,
  'one long number': (size) => '1'.repeat(size),
  'nothing but space': (size) => `[${' '.repeat(size - 2)}]`,
  'an object of many names': (size) =>
    `{${Array.from({ length: size / 12 }, (_, at) => `"${at.toString(36).padStart(6, 'k')}":0`).join(',')}}`,
  'a text that never ends': (size) => `"${'x'.repeat(size - 1)}`,
  'half a list': (size) => '[0,'.repeat(size / 3),
};

function repeated(begin: string, part: string, end: string, sizeBytes: number): string {
  const count = Math.floor((sizeBytes - begin.length - end.length) / part.length);
  return `${begin}${part.repeat(count)}${end}`;
}

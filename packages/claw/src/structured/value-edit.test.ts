import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { dataWith } from './canonical-value.ts';
import { disputedKind } from './structured-kind.ts';
import { setAt } from './value-edit.ts';

function apply(path: string, text: string, key: string, value: unknown): string {
  return String(setAt({ kind: disputedKind(path), bytes: Buffer.from(text) }, keysOf(key), value));
}

// Names of the texts below that hold a dot themselves.
const DOTTED = /socket\.io|lodash\.get|db\.one/g;

function keysOf(key: string): readonly string[] {
  const parts = key.replace(DOTTED, (name) => name.replace('.', '\0')).split('.');
  return parts.map((part) => part.replace('\0', '.'));
}

const PACKAGE = `{
\t"name": "app",
\t"dependencies": {
\t\t"alpha":   "^1.0.0",
\t\t"socket.io": "^4.0.0"
\t},
\t"files": [ "a", "b" ]
}`;

test.each([
  ['dependencies.alpha', '^2.0.0', '"^1.0.0"', '"^2.0.0"'],
  ['dependencies.socket.io', '^4.1.0', '"^4.0.0"', '"^4.1.0"'],
  ['dependencies.lodash.get', '^4.4.2', '"socket.io"', '"lodash.get": "^4.4.2",\n\t\t"socket.io"'],
  ['dependencies.alpha', null, '"alpha":   "^1.0.0",\n\t\t', ''],
  ['files', ['a'], '[ "a", "b" ]', '[ "a" ]'],
  ['config.a', { b: 1 }, '\n}', ',\n\t"config": {\n\t\t"a": { "b": 1 }\n\t}\n}'],
])('%s of package.json becomes %j, the rest stays to the byte', (key, value, from, to) => {
  expect(apply('package.json', PACKAGE, key, value)).toBe(PACKAGE.replace(from, to));
  const windows = PACKAGE.replaceAll('\n', '\r\n');
  expect(apply('package.json', `\uFEFF${windows}\r\n`, key, value)).toBe(
    `\uFEFF${windows.replace(from.replaceAll('\n', '\r\n'), to.replaceAll('\n', '\r\n'))}\r\n`,
  );
});

test('the image’s packages are set like the project’s', () => {
  const text = '{ "apt": ["git"], "npm": {} }\n';
  expect(apply('container/packages.json', text, 'npm.tsx', '^4.0.0')).toContain('"tsx": "^4.0.0"');
});

const ENV = `# All of it

# The name
export NAME = "a b"   # shown
URL=http://x/#top # a place
EMPTY=
`;

test.each([
  ['NAME', 'c d', '"a b"', '"c d"'],
  ['NAME', 'c', '"a b"', 'c'],
  ['URL', 'http://y', 'http://x/', 'http://y'],
  ['EMPTY', 'x # y', 'EMPTY=', 'EMPTY="x # y"'],
  ['NEW', 'C:\\new dir', 'EMPTY=\n', "EMPTY=\nNEW='C:\\new dir'\n"],
  ['NAME', null, '# The name\nexport NAME = "a b"   # shown\n', ''],
  ['NEW', null, '', ''],
])('%s of .env.example becomes %j, the rest stays to the byte', (key, value, from, to) => {
  expect(apply('.env.example', ENV, key, value)).toBe(ENV.replace(from, () => to));
});

test('an env file that is no UTF-8 keeps its other bytes', () => {
  const bytes = Buffer.from([0x41, 0x3d, 0xff, 0x0a, 0x42, 0x3d, 0x31, 0x0a]);
  const set = setAt({ kind: 'env', bytes }, ['B'], 'é');
  expect(set).toEqual(Buffer.concat([bytes.subarray(0, 6), Buffer.from('é\n')]));
});

const COMPOSE = `# What runs beside us
x-base: &base          # shared
    restart: always
services:
    web:               # the page
        <<: *base
        image: "nginx:1"   # pinned
        x-list: ["a", 'c']
        command: |
            serve
            now
        # where it listens
        ports:             # two of them
            # the first
            - "127.0.0.1:80:80"     # plain
            # with a key
            - "127.0.0.1:443:443"

    # the store
    db.one: { image: postgres, ports: [ '127.0.0.1:5432:5432' ] }
    empty:
volumes:
    data:   # kept
`;

test.each([
  ['services.web.image', 'nginx:2', '"nginx:1"', '"nginx:2"'],
  ['services.web.image', null, '        image: "nginx:1"   # pinned\n', ''],
  [
    'services.web.command',
    'serve',
    'command: |\n            serve\n            now',
    'command: serve',
  ],
  [
    'services.web.ports',
    ['127.0.0.1:80:80', '127.0.0.1:444:443'],
    '            # with a key\n            - "127.0.0.1:443:443"\n',
    '            # with a key\n            - 127.0.0.1:444:443\n',
  ],
  ['services.web.ports', null, / {8}# where it listens\n {8}ports:[\s\S]*?443:443"\n/, ''],
  ['services.web.ports', [], /ports:( +# two of them\n)[\s\S]*?443:443"\n/, 'ports: []$1'],
  [
    'services.db.one.ports',
    ['127.0.0.1:1:5432'],
    "[ '127.0.0.1:5432:5432' ]",
    "[ '127.0.0.1:1:5432' ]",
  ],
  ['services.web.x-list', ['b'], '["a", \'c\']', '["b"]'],
  ['services.db.one.user', 'yes', "5432' ]", '5432\' ], user: "yes"'],
  ['services.empty.image', 'x', 'empty:', 'empty:\n      image: x'],
  ['services.web.labels', { a: 'b' }, '443:443"\n', '443:443"\n        labels:\n          a: b\n'],
  ['volumes.data', { external: true }, 'data:   # kept', 'data:   # kept\n      external: true'],
  ['volumes.data', null, 'volumes:\n    data:   # kept', 'volumes: {}'],
])('%s of a compose file becomes %j, the rest stays to the byte', (key, value, from, to) => {
  const expected = COMPOSE.replace(from, to);
  const text = apply('docker-compose.yml', COMPOSE, key, value);
  expect(text).toBe(expected);
  const windows = (content: string) => content.replaceAll('\n', '\r\n');
  expect(apply('compose.yaml', windows(COMPOSE), key, value)).toBe(windows(expected));
});

test.each([
  ['a: &x 1\nb: *x\n', 'a', 2],
  ['a: 1\n', 'a.b', 2],
  ['[a]\n', 'a', 1],
  ['a: 1\na: 2\n', 'a', 3],
])('what cannot be said without saying something else too is refused: %j', (text, key, value) => {
  expect(setAt({ kind: 'compose', bytes: Buffer.from(text) }, keysOf(key), value)).toBeNull();
});

test('an alias gives way to a value of its own', () => {
  const text = 'a: &x [ "80:80" ]\nb: *x # as above\n';
  expect(apply('compose.yml', text, 'b', ['81:80'])).toBe(text.replace('*x', '[ 81:80 ]'));
});

const leaf = fc.constantFrom<unknown>(
  1,
  'x',
  'yes',
  '22:22',
  'a # b',
  true,
  ['a', 'b: c'],
  [{ a: 1 }],
  { k: 'v' },
);
const inner = fc.dictionary(fc.constantFrom('d', 'e', 'f'), leaf, { minKeys: 1 });
const tree = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(leaf, inner), { minKeys: 1 });
const place = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.constantFrom('d', 'e', 'f')));
const layout = fc.record({ isInBraces: fc.boolean(), isIndented: fc.boolean() });

test('any value can be set anywhere in a compose file, and the lines of other keys stay', () => {
  fc.assert(
    fc.property(tree, place, fc.option(leaf), layout, (data, [key, below], value, style) => {
      const around = data[key] ?? {};
      fc.pre(below === null || (Object(around) === around && !Array.isArray(around)));
      const blocks = Object.entries(data).map(([name, item]) => {
        const braces = stringify(item, {
          collectionStyle: 'flow',
          aliasDuplicateObjects: false,
        }).trim();
        const lines = stringify(
          { [name]: item },
          {
            indentSeq: style.isIndented,
            aliasDuplicateObjects: false,
          },
        );
        return `# on ${name}\n${style.isInBraces ? `${name}: ${braces}\n` : lines}`;
      });
      const keys = below === null ? [key] : [key, below];
      const set = apply('compose.yml', blocks.join('\n'), keys.join('.'), value);
      expect(parse(set) ?? {}).toEqual(dataWith(data, keys, value));
      for (const block of blocks) {
        if (!block.startsWith(`# on ${key}\n`)) expect(set).toContain(block);
      }
    }),
    { numRuns: 400 },
  );
});

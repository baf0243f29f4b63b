import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { mergeStructured } from './merge.ts';
import { disputedKind } from './structured-kind.ts';

type Side = string | null;

function merge(path: string, base: Side, ours: Side, theirs: Side) {
  const [b, o, t] = [base, ours, theirs].map((text) => (text === null ? null : Buffer.from(text)));
  const versions = { base: b ?? null, ours: o ?? null, theirs: t ?? null };
  const result = mergeStructured({
    path,
    kind: disputedKind(path),
    versions,
    layers: ['your edits', 'telegram'],
  });
  return {
    text: result.bytes?.toString() ?? null,
    conflicts: result.conflicts.map((conflict) => `${conflict.kind} ${conflict.path}`),
    reasons: result.conflicts.map(({ reason }) => reason),
  };
}

const BASE = `{
  "name": "core",
  "scripts": { "start": "node ." },
  "dependencies": {
    "alpha": "^1.0.0",
    "gamma": "^2.0.0"
  },
  "files": ["a", "b"]
}
`;

test('the result has each side’s changes of package.json, and the rest is ours to the byte', () => {
  const ours = BASE.replace('"node ."', '"node   .", "mine" : "x"').replace(
    '"name": "core"',
    '"name":"own"',
  );
  const theirs = BASE.replace('"gamma"', '"beta": "^3.0.0",\n    "gamma"').replace(
    '^1.0.0',
    '^1.2.0',
  );
  const { text, conflicts } = merge('package.json', BASE, ours, theirs);
  expect(conflicts).toEqual([]);
  expect(text).toBe(
    ours.replace('"gamma"', '"beta": "^3.0.0",\n    "gamma"').replace('^1.0.0', '^1.2.0'),
  );
});

test.each([
  ['taking the first key out', '"alpha": "^1.0.0",\n    ', ''],
  ['taking the last key out', ',\n    "gamma": "^2.0.0"', ''],
  ['taking every key out', '{\n    "alpha": "^1.0.0",\n    "gamma": "^2.0.0"\n  }', '{}'],
  ['taking a section out', ',\n  "files": ["a", "b"]', ''],
  ['changing a list', '["a", "b"]', '["a", "c"]'],
  ['changing a kind', '["a", "b"]', '{ "a": true }'],
])('theirs %s leaves ours’ own edit', (_, from, to) => {
  const ours = BASE.replace('"node ."', '"node --watch ."');
  const { text, conflicts } = merge('package.json', BASE, ours, BASE.replace(from, to));
  expect(conflicts).toEqual([]);
  expect(text).toBe(ours.replace(from, to));
});

test('a Windows file takes a nested value in its own line ends and indentation', () => {
  const ours = BASE.replace('core', 'own').replaceAll('\n', '\r\n').replaceAll('  ', '\t');
  const theirs = BASE.replace(
    '  "files"',
    '  "config": {\n    "a": [\n      1\n    ]\n  },\n  "files"',
  );
  const { text } = merge('package.json', BASE, ours, theirs);
  expect(text).toBe(
    ours.replace(
      '\t"files"',
      '\t"config": {\r\n\t\t"a": [\r\n\t\t\t1\r\n\t\t]\r\n\t},\r\n\t"files"',
    ),
  );
});

test.each([
  ['two values', '"^1.0.0"', '"^1.1.0"', '"^1.2.0"', 'dependencies.alpha'],
  ['a value and a removal', ',\n  "files": ["a", "b"]', '', ',\n  "files": ["a"]', 'files'],
  ['two lists', '["a", "b"]', '["a"]', '["b"]', 'files'],
])('%s at one key are a conflict there', (_, from, mine, yours, key) => {
  const ours = BASE.replace(from, mine);
  const theirs = BASE.replace(from, yours).replace('"core"', '"renamed"');
  const { text, conflicts, reasons } = merge('package.json', BASE, ours, theirs);
  expect(conflicts).toEqual([`structured package.json#${key}`]);
  expect(reasons[0]).toContain('your edits and telegram changed');
  expect(text).toBe(ours.replace('"core"', '"renamed"'));
});

test('two files added at one path are united where they can be', () => {
  expect(merge('package.json', null, '{"a": 1}', '{"a": 1, "b": 2}').text).toBe('{"a": 1, "b": 2}');
  expect(merge('package.json', null, '{"a": 1}', '{"a": 2}').conflicts).toEqual([
    'structured package.json#a',
  ]);
});

test('the image’s Debian packages merge as a set', () => {
  const base = '{ "apt": ["curl", "git"], "npm": {} }';
  const ours = '{ "apt": ["curl", "git", "jq"], "npm": {} }';
  const theirs = '{ "apt": ["ffmpeg", "git"], "npm": {} }';
  expect(merge('container/packages.json', base, ours, theirs)).toMatchObject({
    text: '{ "apt": ["ffmpeg", "git", "jq"], "npm": {} }',
    conflicts: [],
  });
});

const ENV = '# Core\nMODEL=a\n\n# Keys\nKEY=\nURL=x\n';

test('settings merge by name, and comments go with them', () => {
  const ours = ENV.replace('MODEL=a', 'MODEL=mine').replace('# Core', '# My core');
  const theirs = ENV.replace('URL=x\n', '').replace('KEY=\n', 'KEY=\n# A bot\nTOKEN=1\n');
  const { text, conflicts } = merge('.env.example', ENV, ours, theirs);
  expect(conflicts).toEqual([]);
  expect(text).toBe('# My core\nMODEL=mine\n\n# Keys\nKEY=\n# A bot\nTOKEN=1\n');
});

test('settings added by both sides are all there, in a Windows file as well', () => {
  const ours = `${ENV}MINE=1`.replaceAll('\n', '\r\n');
  const { text } = merge('.env.example', ENV, ours, `${ENV}\n# Theirs\nYOURS=2\n`);
  expect(text?.replaceAll('\r\n', '')).not.toContain('\n');
  expect(text?.split('\r\n')).toEqual(
    expect.arrayContaining(['MINE=1', '# Theirs', 'YOURS=2', 'MODEL=a']),
  );
});

test('comments that both sides changed are kept from both', () => {
  const { text, conflicts } = merge(
    '.env.example',
    ENV,
    ENV.replace('# Keys', '# My keys'),
    ENV.replace('# Keys', '# Their keys'),
  );
  expect(conflicts).toEqual([]);
  expect(text).toBe(ENV.replace('# Keys', '# My keys\n# Their keys'));
});

test('one setting with two values is a conflict', () => {
  const { text, conflicts } = merge(
    '.env.example',
    ENV,
    ENV.replace('=x', '=y'),
    ENV.replace('=x', '=z'),
  );
  expect(conflicts).toEqual(['structured .env.example#URL']);
  expect(text).toBe(ENV.replace('=x', '=y'));
});

const COMPOSE = `# Services
services:
  web:
    image: nginx:1   # pinned
    environment:
      A: "1"
    ports:
      - "127.0.0.1:80:80"

  # the store
  db:
    image: postgres
volumes:
  data:
`;

test('a compose file merges by deep key and keeps ours’ comments', () => {
  const ours = COMPOSE.replace('# pinned', '# by me').replace(
    '      A: "1"\n',
    '      A: "1"\n      MINE: x\n',
  );
  const theirs = COMPOSE.replace('postgres', 'postgres:16')
    .replace('A: "1"', 'A: "2"')
    .replace('  data:\n', '  data:\n  cache:\n');
  const { text, conflicts } = merge('docker-compose.yml', COMPOSE, ours, theirs);
  expect(conflicts).toEqual([]);
  expect(text).toBe(
    ours
      .replace('postgres', 'postgres:16')
      .replace('A: "1"', 'A: "2"')
      .replace('  data:\n', '  data:\n  cache:\n'),
  );
});

test('a comment of ours stays where theirs changes the value or takes the key out, or it is a conflict', () => {
  const ours = COMPOSE.replace('image: postgres', 'image: postgres # mine');
  const newer = COMPOSE.replace('image: postgres', 'image: postgres:16');
  expect(merge('docker-compose.yml', COMPOSE, ours, newer)).toMatchObject({
    text: ours.replace('postgres', 'postgres:16'),
    conflicts: [],
  });
  const without = COMPOSE.replace('\n  # the store\n  db:\n    image: postgres\n', '');
  expect(merge('docker-compose.yml', COMPOSE, ours, without).conflicts).toEqual([
    'structured docker-compose.yml#services.db',
  ]);
  expect(merge('.env.example', 'A=1\nB=2\n', '# mine\nA=1\nB=2\n', 'B=2\n')).toMatchObject({
    text: '# mine\nB=2\n',
    conflicts: [],
  });
});

test('a line of ours that sets nothing stays where theirs takes out the setting below it', () => {
  const ours = 'A=1\na line of mine\n\nB=2\n';
  expect(merge('.env.example', 'A=1\nB=2\n', ours, 'A=1\n')).toMatchObject({
    text: 'A=1\na line of mine\n',
    conflicts: [],
  });
});

test('a service moves between files of different depth', () => {
  const ours = COMPOSE.replace(/^( +)/gm, '$1$1').replace('nginx:1', 'nginx:2');
  const theirs = COMPOSE.replace('volumes:\n', '  # new\n  redis:\n    image: redis\nvolumes:\n');
  const { text, conflicts } = merge('docker-compose.yml', COMPOSE, ours, theirs);
  expect(conflicts).toEqual([]);
  expect(text).toBe(
    ours.replace('volumes:\n', '    # new\n    redis:\n      image: redis\nvolumes:\n'),
  );
});

test('a service that theirs takes out goes with its comment, ours’ edit elsewhere stays', () => {
  const ours = COMPOSE.replace('nginx:1', 'nginx:2');
  const theirs = COMPOSE.replace('\n  # the store\n  db:\n    image: postgres\n', '');
  const { text } = merge('docker-compose.yml', COMPOSE, ours, theirs);
  expect(text).toBe(ours.replace('\n  # the store\n  db:\n    image: postgres\n', ''));
});

test.each([
  ['nginx:1', 'nginx:2', 'nginx:3', 'services.web.image'],
  ['"127.0.0.1:80:80"', '"127.0.0.1:81:80"', '"127.0.0.1:82:80"', 'services.web.ports'],
  ['A: "1"', 'A: "2"', 'A: "3"', 'services.web.environment.A'],
])('%s changed on both sides is a conflict at its key', (from, mine, yours, key) => {
  const ours = COMPOSE.replace(from, mine);
  const { text, conflicts } = merge(
    'docker-compose.yml',
    COMPOSE,
    ours,
    COMPOSE.replace(from, yours),
  );
  expect(conflicts).toEqual([`structured docker-compose.yml#${key}`]);
  expect(text).toBe(ours);
});

test('only layout changed on one side: the other side’s value counts', () => {
  const ours = COMPOSE.replace('- "127.0.0.1:80:80"', '- 127.0.0.1:80:80');
  const theirs = COMPOSE.replace('"127.0.0.1:80:80"', '"127.0.0.1:8080:80"');
  const { text, conflicts } = merge('docker-compose.yml', COMPOSE, ours, theirs);
  expect(conflicts).toEqual([]);
  expect(text).toBe(theirs);
});

test.each([
  ['package.json', '{"a": 1}', '{"a": 2}', '{"a":\n', 'of telegram cannot be read (line 2'],
  ['package.json', '{"a": 1}', '{"a": 1,\n}', '{"a": 2}', 'of your edits cannot be read (line 2'],
  ['package.json', 'x', '{"a": 1}', '{"a": 2}', 'as it was before cannot be read (line 1'],
  ['compose.yml', 'a: 1\n', 'a: 2\n', 'a: 1\nb: [\n', 'of telegram cannot be read (line 3'],
  ['compose.yml', 'a: 1\n', '- a\n', 'a: 3\n', 'of your edits cannot be read (line 1'],
])(
  '%s with %j, %j and %j is a conflict over the whole file',
  (path, base, ours, theirs, reason) => {
    const { text, conflicts, reasons } = merge(path, base, ours, theirs);
    expect(conflicts).toEqual([`content ${path}`]);
    expect(reasons[0]).toContain(reason);
    expect(text).toBe(ours);
  },
);

test('an anchor that one side takes out from under the other’s alias is a conflict', () => {
  const base = 'x: &a\n  b: 1\ny: 1\nz: 1\n';
  const { text, conflicts } = merge(
    'compose.yml',
    base,
    base.replace('y: 1', 'y: *a'),
    'y: 1\nz: 1\n',
  );
  expect(conflicts).toEqual(['content compose.yml']);
  expect(text).toContain('y: *a');
});

test('a deletion against an edit is a conflict', () => {
  expect(merge('package.json', '{}', null, '{"a": 1}')).toMatchObject({
    text: null,
    conflicts: ['modify-delete package.json'],
  });
  expect(merge('package.json', '{}', '{"a": 1}', null).conflicts).toHaveLength(1);
});

test('a lock file that both sides changed stays ours', () => {
  expect(merge('package-lock.json', '{}', '{"a": 1}', '{"b": 1}')).toMatchObject({
    text: '{"a": 1}',
    conflicts: [],
  });
});

const PATHS = ['package.json', '.env.example', 'docker-compose.yml', 'container/packages.json'];
const anyBytes = fc.option(fc.uint8Array().map((content) => Buffer.from(content)));

test('if one side changed nothing, the other is the result, whatever the bytes', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PATHS), anyBytes, anyBytes, (path, base, changed) => {
      const layers = ['a', 'b'] as const;
      const clean = { bytes: changed, conflicts: [] };
      const sides = [
        { base, ours: base, theirs: changed },
        { base, ours: changed, theirs: base },
        { base, ours: changed, theirs: changed },
      ];
      for (const versions of sides) {
        expect(mergeStructured({ path, kind: disputedKind(path), versions, layers })).toEqual(
          clean,
        );
      }
    }),
    { numRuns: 200 },
  );
});

const leaf = fc.constantFrom(1, 2, 'x', [1], null);
const tree = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(leaf, fc.dictionary(fc.constantFrom('d', 'e'), leaf)),
);

/** Returns the three-way merge of plain data, spelled out as the oracle of the byte-level one. */
function mergeData(
  base: unknown,
  ours: unknown,
  theirs: unknown,
): { value: unknown; isClash: boolean } {
  const same = (one: unknown, other: unknown) => sorted(one) === sorted(other);
  if (same(base, theirs) || same(ours, theirs)) return { value: ours, isClash: false };
  if (same(base, ours)) return { value: theirs, isClash: false };
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap(ours) || !isMap(theirs) || (base !== undefined && !isMap(base))) {
    return { value: ours, isClash: true };
  }
  const keys = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  const merged = keys.map((key) => [key, mergeData(base?.[key], ours[key], theirs[key])] as const);
  const present = merged.filter(([, { value }]) => value !== undefined);
  return {
    value: Object.fromEntries(present.map(([key, { value }]) => [key, value])),
    isClash: merged.some(([, { isClash }]) => isClash),
  };
}

function sorted(value: unknown): string {
  return (
    JSON.stringify(value, (_, item: unknown) =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
        : item,
    ) ?? 'undefined'
  );
}

test('JSON merged as text is what the same data merged by key is', () => {
  fc.assert(
    fc.property(tree, tree, tree, fc.constantFrom(0, 2), (base, ours, theirs, indent) => {
      const [b, o, t] = [base, ours, theirs].map((side) => JSON.stringify(side, null, indent));
      const { text, conflicts } = merge('package.json', b ?? '', o ?? '', t ?? '');
      const expected = mergeData(base, ours, theirs);
      expect(conflicts.length > 0).toBe(expected.isClash);
      expect(sorted(JSON.parse(text ?? ''))).toBe(sorted(expected.value));
    }),
    { numRuns: 400 },
  );
});

test('YAML merged as lines never loses a value that only one side changed', () => {
  const write = (side: Record<string, unknown>) =>
    Object.entries(side)
      .map(([key, value]) =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? `${key}:\n${
              Object.entries(value)
                .map(([k, v]) => `  ${k}: ${JSON.stringify(v)}\n`)
                .join('') || '  {}\n'
            }`
          : `${key}: ${JSON.stringify(value)}\n`,
      )
      .join('');
  fc.assert(
    fc.property(tree, tree, tree, (base, ours, theirs) => {
      const { text, conflicts } = merge('compose.yml', write(base), write(ours), write(theirs));
      const expected = mergeData(base, ours, theirs);
      if (expected.isClash) return;
      expect(conflicts).toEqual([]);
      expect(sorted(parse(text ?? '') ?? {})).toBe(sorted(expected.value));
    }),
    { numRuns: 400 },
  );
});

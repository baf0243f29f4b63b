import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Conflict } from '../conflict.ts';
import { dataAt } from './canonical-value.ts';
import type { Declaration } from './declaration.ts';
import { declaration } from './declaration-fixture.ts';
import { composeStructured } from './declared-file.ts';
import { mergeStructured } from './merge.ts';
import { disputedKind } from './structured-kind.ts';
import { dataOf } from './value-edit.ts';

type Answers = Readonly<Record<string, unknown>>;

function compose(
  path: string,
  release: string | null,
  declarations: readonly Declaration[],
  answers: Answers,
) {
  const asked: Conflict[] = [];
  const result = composeStructured({
    path,
    kind: disputedKind(path),
    release: release === null ? null : Buffer.from(release),
    declarations,
    decide: (conflict) => {
      asked.push(conflict);
      const key = conflict.path.split('#')[1] ?? '';
      return Object.hasOwn(answers, key) ? { value: answers[key] } : null;
    },
  });
  return {
    text: result.bytes?.toString() ?? null,
    conflicts: result.conflicts.map(({ path: at, layers, values }) => ({ at, layers, values })),
    asked: asked.map(({ path: at, layers, values }) => ({ at, layers, values })),
    outcome: result.outcome,
  };
}

const requirement = (layer: string, foo: string) => declaration(layer, { npm: { foo } });

test('a range that was decided stands in the file and in the outcome', () => {
  const layers = [requirement('a', '^0.1.0'), requirement('b', '^0.9.0')];
  const open = compose('package.json', '{}', layers, {});
  expect(open.conflicts).toEqual([
    {
      at: 'package.json#dependencies.foo',
      layers: ['a', 'b'],
      values: { base: null, ours: '^0.1.0', theirs: '^0.9.0' },
    },
  ]);
  const decided = compose('package.json', '{}', layers, { 'dependencies.foo': '^0.9.2' });
  expect(decided).toMatchObject({
    conflicts: [],
    outcome: { npm_dependencies: { foo: '^0.9.2' } },
  });
  expect(JSON.parse(decided.text ?? '')).toEqual({ dependencies: { foo: '^0.9.2' } });
});

test('a decided range still has to meet what a third layer wants', () => {
  const layers = [
    requirement('a', '^0.1.0'),
    requirement('b', '^0.9.0'),
    requirement('c', '>=0.9.5'),
  ];
  const answers = { 'dependencies.foo': '^0.9.0' };
  expect(compose('package.json', '{}', layers, answers)).toMatchObject({
    conflicts: [],
    outcome: { npm_dependencies: { foo: '^0.9.5' } },
  });
  const stranger = compose(
    'package.json',
    '{}',
    [...layers.slice(0, 2), requirement('c', '^2.0.0')],
    answers,
  );
  expect(stranger.asked.map(({ values }) => values)).toEqual([
    { base: null, ours: '^0.1.0', theirs: '^0.9.0' },
    { base: null, ours: '^0.9.0', theirs: '^2.0.0' },
  ]);
});

test('the core’s range is the base, and null takes the package out', () => {
  const core = '{\n  "devDependencies": { "foo": "^1.0.0", "x": "1.0.0" }\n}\n';
  const path = 'package.json#devDependencies.foo';
  const run = (answers: Answers) =>
    compose('package.json', core, [requirement('a', '^2.0.0')], answers);
  expect(run({}).conflicts).toEqual([
    {
      at: path,
      layers: ['core', 'a'],
      values: { base: '^1.0.0', ours: '^1.0.0', theirs: '^2.0.0' },
    },
  ]);
  expect(run({ 'devDependencies.foo': null })).toMatchObject({
    text: core.replace('"foo": "^1.0.0", ', ''),
    conflicts: [],
  });
  expect(run({ 'devDependencies.foo': 'latest' }).conflicts).toHaveLength(1);
});

test('the image’s packages are decided the same way', () => {
  const layers = [
    declaration('a', { imageNpm: { tsx: '^3.0.0' } }),
    declaration('b', { imageNpm: { tsx: '^4.0.0' } }),
  ];
  const { text, conflicts } = compose('container/packages.json', null, layers, { 'npm.tsx': '^4' });
  expect(conflicts).toEqual([]);
  expect(JSON.parse(text ?? '')).toEqual({ apt: [], npm: { tsx: '^4' } });
});

const service = (layer: string, name: string, definition: Readonly<Record<string, unknown>>) =>
  declaration(layer, { services: { [name]: definition } });

test('a port that was decided stands in the service that came second', () => {
  const layers = [
    service('a', 'x', { image: 'x', ports: ['127.0.0.1:80:1'] }),
    service('b', 'z', { image: 'q', ports: ['127.0.0.1:80:2'] }),
  ];
  expect(compose('compose.yml', null, layers, {}).conflicts).toEqual([
    {
      at: 'compose.yml#services.z.ports',
      layers: ['a', 'b'],
      values: { base: null, ours: ['127.0.0.1:80:1'], theirs: ['127.0.0.1:80:2'] },
    },
  ]);
  const decided = compose('compose.yml', null, layers, {
    'services.z.ports': ['127.0.0.1:81:2'],
  });
  expect(decided).toMatchObject({
    conflicts: [],
    outcome: { services: { x: ['80/tcp'], z: ['81/tcp'] } },
  });
  expect(decided.text).toContain('z:\n    image: q\n    ports:\n      - 127.0.0.1:81:2\n');
});

test('a decided port that is taken as well is asked for again, and never in circles', () => {
  const layers = [
    service('a', 'x', { ports: ['127.0.0.1:80:1'] }),
    service('b', 'y', { ports: ['127.0.0.1:81:1'] }),
    service('c', 'z', { ports: ['127.0.0.1:80:1'] }),
  ];
  const answers = { 'services.z.ports': ['127.0.0.1:81:1'] };
  const { asked, conflicts } = compose('compose.yml', null, layers, answers);
  expect(asked.map(({ layers: both }) => both)).toEqual([
    ['a', 'c'],
    ['b', 'c'],
  ]);
  expect(conflicts).toMatchObject([{ at: 'compose.yml#services.z.ports', layers: ['b', 'c'] }]);
});

const FILE = `services:
  web:   # the page
    image: nginx:1  # pinned
    ports: ["8080:80"]
`;

test('decisions about a service of the core are written where it stands', () => {
  const layers = [service('a', 'web', { image: 'nginx:2', user: '1000', volumes: ['pages:/p'] })];
  const keys = ['services.web.image', 'services.web.ports', 'services.web.user'];
  const open = compose('compose.yml', FILE, layers, {});
  expect(open.conflicts.map(({ at }) => at.split('#')[1])).toEqual([
    ...keys,
    'services.web.volumes',
  ]);
  expect(open.conflicts[0]?.values).toEqual({
    base: 'nginx:1',
    ours: 'nginx:1',
    theirs: 'nginx:2',
  });
  expect(open.conflicts[2]?.values).toEqual({ base: null, ours: null, theirs: '1000' });
  const decided = compose('compose.yml', FILE, layers, {
    'services.web.image': 'nginx:2',
    'services.web.ports': ['8080:80'],
    'services.web.user': null,
    'services.web.volumes': ['pages:/p'],
  });
  expect(decided.conflicts).toEqual([]);
  expect(decided.text).toBe(
    `${FILE.replace('nginx:1', 'nginx:2')}    volumes:\n      - pages:/p\nvolumes:\n  pages:\n`,
  );
});

test('two definitions of a skill’s service become the one that was decided', () => {
  const layers = [
    service('a', 'db', { image: 'pg:15', user: '1' }),
    service('b', 'db', { image: 'pg:16', user: '1' }),
    service('c', 'db', { image: 'pg:16', user: '1' }),
  ];
  const { text, conflicts } = compose('compose.yml', null, layers, {
    'services.db.image': 'pg:16',
  });
  expect(conflicts).toEqual([]);
  expect(text).toBe('services:\n  db:\n    image: pg:16\n    user: "1"\n');
});

test('services in braces can be decided as a whole', () => {
  const release = 'services: { b: { image: x } }\n';
  const layers = [service('a', 'c', { image: 'z' })];
  const services = { b: { image: 'x' }, c: { image: 'z' } };
  expect(compose('compose.yml', release, layers, {}).conflicts[0]?.values?.theirs).toEqual(
    services,
  );
  expect(compose('compose.yml', release, layers, { services })).toMatchObject({
    text: 'services: { b: { image: x }, c: { image: z } }\n',
    conflicts: [],
  });
});

const setting = (
  layer: string,
  entry: { example?: string; description?: string; secret?: boolean },
) => declaration(layer, { env: [{ name: 'TOKEN', ...entry }] });

test('two examples for one setting are a conflict, and the decided one stands', () => {
  const layers = [
    setting('a', { example: 'x', description: 'Who pays' }),
    setting('b', { example: 'y', description: 'Who asks' }),
    setting('c', { description: 'Who pays' }),
  ];
  expect(compose('.env.example', null, layers, {}).conflicts).toEqual([
    {
      at: '.env.example#TOKEN',
      layers: ['a', 'b'],
      values: { base: null, ours: 'x', theirs: 'y' },
    },
  ]);
  expect(compose('.env.example', null, layers, { TOKEN: 'z z' })).toMatchObject({
    text: '# Who pays\n# Who asks\nTOKEN="z z"\n',
    conflicts: [],
  });
});

test('a setting that is anybody’s secret has no value to disagree on', () => {
  const layers = [setting('a', { example: 'x', secret: true }), setting('b', { example: 'y' })];
  expect(compose('.env.example', null, layers, {})).toMatchObject({
    text: '# Looks like x\n# Looks like y\nTOKEN=\n',
    conflicts: [],
  });
});

function merge(path: string, [base, ours, theirs]: readonly string[], answer?: { value: unknown }) {
  const [b, o, t] = [base, ours, theirs].map((text) => Buffer.from(text ?? ''));
  const versions = { base: b ?? null, ours: o ?? null, theirs: t ?? null };
  const decide = () => answer ?? null;
  const result = mergeStructured({
    path,
    kind: disputedKind(path),
    versions,
    layers: ['your edits', 'a'],
    decide,
  });
  return {
    text: result.bytes?.toString(),
    conflicts: result.conflicts.map(({ path: at, values }) => ({ at, values })),
  };
}

test.each([
  [
    'package.json',
    ['{ "scripts": {"go":  "a"} }', '{ "scripts": {"go":  "b"} }', '{"scripts": {"go": "c"}}'],
    'scripts.go',
    { base: 'a', ours: 'b', theirs: 'c' },
    ['"b"', '"d"'],
    'd',
  ],
  [
    'package.json',
    ['{"files": [1, 2]}', '{"files": [1]}', '{}'],
    'files',
    { base: [1, 2], ours: [1], theirs: null },
    ['{"files": [1]}', '{}'],
    null,
  ],
  [
    'compose.yml',
    ['a:\n  b: 1 # x\n', 'a:\n  b: 2 # y\n', 'a:\n  b: [3]\n'],
    'a.b',
    { base: 1, ours: 2, theirs: [3] },
    ['b: 2 # y', 'b: 4 # y'],
    4,
  ],
  [
    '.env.example',
    ['A=1\n', '# mine\nA="2 2" # note\n', 'A=3\n'],
    'A',
    { base: '1', ours: '2 2', theirs: '3' },
    ['"2 2"', '5'],
    '5',
  ],
])(
  'a key of %s that both sides changed tells its values, and is set to what is decided: %j',
  (path, sides, key, values, [from, to], value) => {
    expect(merge(path, sides).conflicts).toEqual([{ at: `${path}#${key}`, values }]);
    expect(merge(path, sides, { value })).toEqual({
      text: sides[1]?.replace(from ?? '', to ?? ''),
      conflicts: [],
    });
  },
);

test('a decision that cannot be written leaves the conflict', () => {
  const sides = ['a: &x 1\nb: *x\n', 'a: &x 2\nb: *x\n', 'a: &x 3\nb: *x\n'];
  expect(merge('compose.yml', sides, { value: 4 }).conflicts).toHaveLength(1);
});

test('two services that a merge brings together on one host port are a conflict', () => {
  const base = 'services:\n  db:\n    image: pg\n    ports: ["80:1"]\n';
  const ours = `${base}  mine:\n    image: m  # by me\n    ports:\n      - 6379:1\n`;
  const theirs = `${base}  redis:\n    image: r\n    ports: ["127.0.0.1:6379:6379"]\n`;
  expect(merge('compose.yml', [base, ours, theirs]).conflicts).toEqual([
    {
      at: 'compose.yml#services.redis.ports',
      values: { base: null, ours: ['6379:1'], theirs: ['127.0.0.1:6379:6379'] },
    },
  ]);
  const decided = merge('compose.yml', [base, ours, theirs], { value: ['127.0.0.1:6380:6379'] });
  expect(decided.conflicts).toEqual([]);
  expect(decided.text).toContain('mine:\n    image: m  # by me\n');
  expect(decided.text).toContain('ports: ["127.0.0.1:6380:6379"]');
  expect(merge('compose.yml', [base, ours, theirs], { value: ['80:2'] }).conflicts).toHaveLength(1);
  const twice = base.replace('db', 'own');
  expect(merge('compose.yml', [base, base + twice.slice(10), `# new\n${base}`]).conflicts).toEqual(
    [],
  );
});

const leaf = fc.constantFrom<unknown>(1, 'x y', [1], ['a: b', 'c'], true, 'two\nlines', {}, []);
const inner = fc.dictionary(fc.constantFrom('d', 'e'), leaf);
const anyTree = fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(leaf, inner), { minKeys: 1 });

test('whatever two sides disagree on can be decided, and stands in the file', () => {
  const write = (path: string, data: unknown) =>
    Buffer.from(
      path === 'compose.yml'
        ? stringify(data, { aliasDuplicateObjects: false })
        : JSON.stringify(data, null, 2),
    );
  fc.assert(
    fc.property(
      fc.constantFrom('package.json', 'compose.yml'),
      fc.tuple(anyTree, anyTree, anyTree),
      fc.constantFrom('base' as const, 'ours' as const, 'theirs' as const),
      (path, trees, side) => {
        const [base, ours, theirs] = trees.map((data) => write(path, data));
        const versions = { base: base ?? null, ours: ours ?? null, theirs: theirs ?? null };
        const decided = new Map<string, unknown>();
        const decide = ({ path: at, values }: Conflict) => {
          decided.set(at.split('#')[1] ?? '', values?.[side] ?? null);
          return { value: values?.[side] ?? null };
        };
        const result = mergeStructured({
          path,
          kind: disputedKind(path),
          versions,
          layers: ['a', 'b'],
          decide,
        });
        expect(result.conflicts).toEqual([]);
        const data = dataOf(disputedKind(path), result.bytes ?? Buffer.alloc(0));
        for (const [key, value] of decided) {
          expect(dataAt(data, key.split('.')) ?? null).toEqual(value);
        }
      },
    ),
    { numRuns: 300 },
  );
});

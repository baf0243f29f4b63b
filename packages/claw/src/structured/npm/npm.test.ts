import { expect, test } from 'vitest';
import { declaration } from '../declaration-fixture.ts';
import { composeStructured } from '../declared-file.ts';

function compose(release: string | null, ...declarations: ReturnType<typeof declaration>[]) {
  const bytes = release === null ? null : Buffer.from(release);
  const result = composeStructured({
    path: 'package.json',
    kind: 'npm',
    release: bytes,
    declarations,
  });
  const conflicts = result.conflicts.map(({ path, kind, layers }) => ({ path, kind, layers }));
  return { text: result.bytes?.toString() ?? null, conflicts, outcome: result.outcome };
}

const CORE = `{
    "name": "core",
    "scripts": {"start":   "node ."},
    "dependencies": {
        "alpha": "^1.0.0",
        "gamma": "^2.0.0"
    },
    "devDependencies": { "delta": "^1.0.0" }
}`;

test('a new package is inserted in npm’s order and nothing else moves', () => {
  const { text, conflicts, outcome } = compose(CORE, declaration('a', { npm: { beta: '^3.0.0' } }));
  expect(text).toBe(CORE.replace('"gamma"', '"beta": "^3.0.0",\n        "gamma"'));
  expect(conflicts).toEqual([]);
  expect(outcome).toEqual({ npm_dependencies: { beta: '^3.0.0' } });
});

test('a package behind the last one, and one in front of the first', () => {
  const { text } = compose(CORE, declaration('a', { npm: { zeta: '1.0.0', '@a/b': '1.0.0' } }));
  const expected = CORE.replace('"^2.0.0"', '"^2.0.0",\n        "zeta": "1.0.0"');
  expect(text).toBe(expected.replace('"alpha"', '"@a/b": "1.0.0",\n        "alpha"'));
});

test('a package that the core has is narrowed where it stands', () => {
  const { text } = compose(CORE, declaration('a', { npm: { alpha: '^1.4.0', delta: '^1.1.0' } }));
  expect(text).toBe(
    CORE.replace('"alpha": "^1.0.0"', '"alpha": "^1.4.0"').replace(
      '"delta": "^1.0.0"',
      '"delta": "^1.1.0"',
    ),
  );
  expect(compose(CORE, declaration('a', { npm: { alpha: '>=1.0.0' } })).text).toBe(CORE);
});

test('line ends, a last newline and a byte-order mark stay', () => {
  const windows = `\uFEFF${CORE.replaceAll('\n', '\r\n')}\r\n`;
  const { text } = compose(windows, declaration('a', { npm: { beta: '^3.0.0' } }));
  expect(text).toBe(windows.replace('"gamma"', '"beta": "^3.0.0",\r\n        "gamma"'));
});

test('a core without dependencies, or without the file, gets them', () => {
  const requirement = declaration('a', { npm: { beta: '^3.0.0' } });
  expect(compose('{}', requirement).text).toBe(
    '{\n  "dependencies": {\n    "beta": "^3.0.0"\n  }\n}',
  );
  expect(compose('{\n\t"name": "x"\n}\n', requirement).text).toBe(
    '{\n\t"name": "x",\n\t"dependencies": {\n\t\t"beta": "^3.0.0"\n\t}\n}\n',
  );
  expect(compose('{"dependencies":{}}', requirement).text).toContain('"beta": "^3.0.0"');
  expect(compose(null, requirement).text).toBe(
    '{\n  "private": true,\n  "dependencies": {\n    "beta": "^3.0.0"\n  }\n}\n',
  );
});

test('ranges without a common version are a conflict that names both skills', () => {
  const { text, conflicts } = compose(
    CORE,
    declaration('a', { npm: { foo: '^0.1.0', beta: '^1.0.0' } }),
    declaration('b', { npm: { foo: '^0.9.0' } }),
  );
  expect(conflicts).toEqual([
    { path: 'package.json#dependencies.foo', kind: 'structured', layers: ['a', 'b'] },
  ]);
  expect(text).toContain('"beta"');
  expect(text).not.toContain('foo');
});

test('the core’s own range takes part, in whatever section it stands', () => {
  expect(compose(CORE, declaration('a', { npm: { delta: '^2.0.0' } })).conflicts).toEqual([
    { path: 'package.json#devDependencies.delta', kind: 'structured', layers: ['core', 'a'] },
  ]);
  const fromGit = '{"dependencies": {"foo": "git+https://example.org/foo.git"}}';
  expect(compose(fromGit, declaration('a', { npm: { foo: '^1.0.0' } })).conflicts).toHaveLength(1);
});

test('three requirements that agree only in pairs are a conflict of all three', () => {
  const result = composeStructured({
    path: 'package.json',
    kind: 'npm',
    release: Buffer.from('{}'),
    declarations: [
      declaration('a', { npm: { foo: '1 || 2' } }),
      declaration('b', { npm: { foo: '2 || 3' } }),
      declaration('c', { npm: { foo: '1 || 3' } }),
    ],
  });
  expect(result.conflicts.map(({ layers }) => layers)).toEqual([['a', 'c']]);
  expect(result.conflicts[0]?.reason).toContain('b asks for 2 || 3');
});

test.each([
  ['{"a": 1,}', 1],
  ['{\n"a": 1,\n"a": 2}', 3],
  ['[]', 1],
  ['{\n// note\n}', 2],
])('a release of %j is reported with its line, and left as it is', (release, line) => {
  const result = composeStructured({
    path: 'package.json',
    kind: 'npm',
    release: Buffer.from(release),
    declarations: [declaration('a', { npm: { foo: '^1.0.0' } })],
  });
  expect(result.bytes?.toString()).toBe(release);
  expect(result.conflicts.map(({ path, kind }) => ({ path, kind }))).toEqual([
    { path: 'package.json', kind: 'content' },
  ]);
  expect(result.conflicts[0]?.reason).toContain(`line ${line}`);
});

test('a range takes the place of the core’s only where it says so and the two have nothing in common', () => {
  const apart = { npm: { alpha: '^2.0.0', gamma: '^2.1.0' } };
  expect(compose(CORE, declaration('a', apart)).conflicts).toHaveLength(1);
  const requirement = declaration('a', { ...apart, npmOverrides: ['alpha', 'gamma', 'new'] });
  const { text, conflicts, outcome } = compose(CORE, requirement);
  expect(conflicts).toEqual([]);
  expect(text).toBe(
    CORE.replace('^1.0.0', '^2.0.0').replace('"gamma": "^2.0.0"', '"gamma": "^2.1.0"'),
  );
  expect(outcome).toEqual({
    npm_dependencies: { alpha: '^2.0.0', gamma: '^2.1.0' },
    npm_overrides: { alpha: { core: '^1.0.0', range: '^2.0.0' } },
  });
});

test('other layers must still agree with a range that one layer overrides', () => {
  const raising = declaration('a', { npm: { alpha: '^2.0.0' }, npmOverrides: ['alpha'] });
  const { text, conflicts } = compose(
    CORE,
    raising,
    declaration('b', { npm: { alpha: '^2.3.0' } }),
  );
  expect(conflicts).toEqual([]);
  expect(text).toContain('"alpha": "^2.3.0"');
  const old = declaration('b', { npm: { alpha: '^1.2.0' } });
  expect(compose(CORE, raising, old).conflicts).toEqual([
    { path: 'package.json#dependencies.alpha', kind: 'structured', layers: ['a', 'b'] },
  ]);
});

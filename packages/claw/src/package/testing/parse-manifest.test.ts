import { expect, test } from 'vitest';
import { ClawError } from '../../errors.ts';
import { manifestText } from '../package-fixture.ts';
import { errorOf } from './error-of.ts';
import { parseManifest } from './parse-manifest.ts';

test('a manifest with only the required keys gets empty lists for the others', () => {
  expect(parseManifest(manifestText())).toEqual({
    skill: 'demo',
    version: '1.0.0',
    description: 'A demonstration',
    coreVersion: '0.1.0',
    adds: [],
    modifies: [],
    origin: null,
    fileOps: [],
    depends: [],
    conflicts: [],
    structured: {
      npmDependencies: {},
      envAdditions: [],
      npmOverrides: [],
      composeServices: {},
      container: { npmDependencies: {}, aptPackages: [] },
    },
    test: [],
  });
});

test('a full manifest is read into the engine’s own names', () => {
  const manifest = parseManifest(
    manifestText({
      adds: ['src/a.ts'],
      file_ops: [
        { type: 'rename', from: 'a.md', to: 'b.md' },
        { type: 'delete', path: 'c.md' },
      ],
      depends: ['base', 'other@^1.2.0'],
      conflicts: ['rival'],
      structured: {
        npm_dependencies: { grammy: '^1.46.0' },
        env_additions: [
          'DEMO_TOKEN',
          { name: 'DEMO_URL', example: 'http://x', secret: true, optional: true },
        ],
        docker_compose_services: { redis: { image: 'redis:7' } },
        container: { apt_packages: ['ffmpeg'] },
      },
      test: ['tests/demo.test.ts'],
    }),
  );
  expect(manifest.depends).toEqual([
    { name: 'base', range: '*' },
    { name: 'other', range: '^1.2.0' },
  ]);
  expect(manifest.structured).toEqual({
    npmDependencies: { grammy: '^1.46.0' },
    npmOverrides: [],
    envAdditions: [
      { name: 'DEMO_TOKEN', description: null, example: null, isSecret: false, isOptional: false },
      {
        name: 'DEMO_URL',
        description: null,
        example: 'http://x',
        isSecret: true,
        isOptional: true,
      },
    ],
    composeServices: { redis: { image: 'redis:7' } },
    container: { npmDependencies: {}, aptPackages: ['ffmpeg'] },
  });
  expect(manifest.fileOps).toHaveLength(2);
});

const nested = `x: ${'['.repeat(16)}${']'.repeat(16)}`;

test.each([
  ['alias', 'a: &x 1\nb: *x\n', 'YAML_INVALID', 'manifest.yaml:1:7'],
  ['tag', 'a: !!str x\n', 'YAML_INVALID', 'manifest.yaml:1:10'],
  ['merge key', 'a:\n  <<: {b: 1}\n', 'YAML_INVALID', 'manifest.yaml:2:3'],
  ['duplicate key', 'a: 1\nb: 2\na: 3\n', 'YAML_INVALID', 'manifest.yaml:3:1'],
  ['key twice in two types', '1: a\n"1": b\n', 'YAML_INVALID', 'manifest.yaml:2:1'],
  ['prototype key', 'a:\n  __proto__: {}\n', 'YAML_INVALID', 'manifest.yaml:2:3'],
  ['constructor key', 'constructor: 1\n', 'YAML_INVALID', 'manifest.yaml:1:1'],
  ['directive', '%YAML 1.1\n---\na: 1\n', 'YAML_INVALID', 'manifest.yaml:1:1'],
  ['two documents', 'a: 1\n---\nb: 2\n', 'YAML_INVALID', 'manifest.yaml:2:1'],
  ['complex key', '? [a]\n: 1\n', 'YAML_INVALID', 'manifest.yaml:1:3'],
  ['broken syntax', 'a: [1\n', 'YAML_INVALID', 'manifest.yaml:2:1'],
  ['17 levels', nested, 'LIMIT_EXCEEDED', 'manifest.yaml'],
  ['thousands of levels', `x: ${'['.repeat(20_000)}`, 'LIMIT_EXCEEDED', 'manifest.yaml'],
  ['64 KiB and one byte', `#${'x'.repeat(65_536)}`, 'LIMIT_EXCEEDED', 'manifest.yaml'],
  ['nothing', '', 'SCHEMA_INVALID', 'manifest.yaml'],
  ['a list', '- a\n', 'SCHEMA_INVALID', 'manifest.yaml'],
])('refuses %s', (_, text, code, path) => {
  expect(errorOf(() => parseManifest(text))).toEqual({ code, path });
});

test('bytes that are no UTF-8 are refused as YAML', () => {
  expect(errorOf(() => parseManifest(Buffer.from([0x61, 0x3a, 0xff])))?.code).toBe('YAML_INVALID');
});

test.each([
  ['an unknown key', { color: 'red' }, 'color'],
  ['an unknown key further in', { structured: { env: [] } }, 'structured.env'],
  ['a number for a version', { version: 1 }, 'version'],
  ['a number for a setting', { structured: { env_additions: [3] } }, 'structured.env_additions.0'],
  ['a null list', { adds: null }, 'adds'],
  ['an unknown operation', { file_ops: [{ type: 'chmod' }] }, 'file_ops.0.type'],
  ['a rename without a goal', { file_ops: [{ type: 'rename', from: 'a' }] }, 'file_ops.0.to'],
  ['post_apply', { post_apply: ['echo'] }, 'post_apply'],
  ['a test command', { test: 'make test' }, 'test'],
  ['a test command with a shell line', { test: 'npx vitest run a.test.ts;id' }, 'test'],
  ['a test command with an option', { test: 'npx vitest run --config x a.test.ts' }, 'test'],
  ['a test command without files', { test: 'npx vitest run' }, 'test'],
])('names the place of %s', (_, keys, place) => {
  expect(errorOf(() => parseManifest(manifestText(keys)))).toEqual({
    code: 'SCHEMA_INVALID',
    path: `manifest.yaml:${place}`,
  });
});

test.each([
  [{ skill: 'Demo' }, 'NAME_INVALID', 'skill'],
  [{ skill: `a${'b'.repeat(63)}` }, 'NAME_INVALID', 'skill'],
  [{ depends: ['../x'] }, 'NAME_INVALID', 'depends.0'],
  [{ conflicts: ['a', 'B'] }, 'NAME_INVALID', 'conflicts.1'],
  [{ version: '1.0' }, 'VERSION_INVALID', 'version'],
  [{ version: 'v1.0.0' }, 'VERSION_INVALID', 'version'],
  [{ core_version: 'latest' }, 'VERSION_INVALID', 'core_version'],
  [{ depends: ['a@'] }, 'VERSION_INVALID', 'depends.0'],
  [{ depends: ['a@newest'] }, 'VERSION_INVALID', 'depends.0'],
  [{ depends: ['demo'] }, 'GRAPH_INVALID', 'depends.0'],
  [{ conflicts: ['demo'] }, 'GRAPH_INVALID', 'conflicts.0'],
  [{ skill: 'BAD', version: 'bad' }, 'NAME_INVALID', 'skill'],
])('%j is %s', (keys, code, place) => {
  expect(errorOf(() => parseManifest(manifestText(keys)))).toEqual({
    code,
    path: `manifest.yaml:${place}`,
  });
});

test.each([
  'npx vitest run a.test.ts src/b.test.ts',
  'npx vitest a.test.ts src/b.test.ts',
  'vitest run a.test.ts src/b.test.ts',
  'node --test ./a.test.ts src/b.test.ts',
])('reads the command %j as a list of files', (command) => {
  expect(parseManifest(manifestText({ test: command })).test).toEqual([
    'a.test.ts',
    'src/b.test.ts',
  ]);
});

test('keys by which NanoClaw’s manifests document themselves change nothing', () => {
  const documented = manifestText({
    author: 'somebody',
    license: 'MIT',
    min_skills_system_version: '0.1.0',
    tested_with: ['telegram@1.0.0'],
  });
  expect(parseManifest(documented)).toEqual(parseManifest(manifestText()));
});

test('the message of a refusal never shows more of the file than its key', () => {
  try {
    parseManifest('secret: "hunter2\n');
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ClawError);
    expect(String(error)).not.toContain('hunter2');
  }
});

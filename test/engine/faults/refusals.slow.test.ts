import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import {
  addSkill,
  type Codebase,
  type Files,
  type skillFiles,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { contextOf } from '../in-process.ts';

type Case = readonly [
  code: string,
  path: string | null,
  parts: Parameters<typeof skillFiles>[1],
  spoil?: (folder: string) => void,
];

const with_ = (manifest: Readonly<Record<string, unknown>>, add: Files = {}) => ({ add, manifest });
const declared = (structured: Readonly<Record<string, unknown>>) => with_({ structured });
const service = (settings: object) =>
  declared({ docker_compose_services: { redis: { image: 'redis:7', ...settings } } });
const manifestText = (text: string) => (folder: string) =>
  fs.writeFileSync(join(folder, 'manifest.yaml'), text);

/** The table of refusals, with the place that the error points at. */
const CASES: readonly Case[] = [
  ['YAML_INVALID', 'manifest.yaml:2:1', {}, manifestText('skill: [\n')],
  ['YAML_INVALID', 'manifest.yaml:2:1', {}, manifestText('skill: a\nskill: b\n')],
  ['SCHEMA_INVALID', 'manifest.yaml:colour', with_({ colour: 'red' })],
  ['SCHEMA_INVALID', 'manifest.yaml:adds', with_({ adds: 'a.txt' })],
  ['LIMIT_EXCEEDED', 'manifest.yaml', with_({ description: 'x'.repeat(70_000) })],
  ['NAME_INVALID', 'manifest.yaml:skill', with_({ skill: 'Bad Name' })],
  ['VERSION_INVALID', 'manifest.yaml:version', with_({ version: 'newest' })],
  ['GRAPH_INVALID', 'manifest.yaml:depends.0', with_({ depends: ['bad'] })],
  ['PATH_UNSAFE', '../out.txt', with_({ adds: ['../out.txt'] })],
  ['PATH_UNSAFE', '/etc/out', with_({ adds: ['/etc/out'] })],
  ['PATH_PROTECTED', '.git/hooks/post-commit', { add: { '.git/hooks/post-commit': 'x' } }],
  ['PATH_PROTECTED', '.CLAW/state.yaml', { add: { '.CLAW/state.yaml': 'x' } }],
  ['PATH_PROTECTED', 'locked/a.ts', { add: { 'locked/a.ts': 'x' } }],
  ['PATH_COLLISION', 'b.txt', { add: { 'B.txt': 'x', 'b.txt': 'y' } }],
  ['PATH_COLLISION', 'A.txt', { add: { 'A.txt': 'x' } }],
  [
    'LINK_REFUSED',
    'add/new.txt',
    { add: { 'new.txt': 'x' } },
    (folder) => {
      fs.rmSync(join(folder, 'add/new.txt'));
      fs.symlinkSync('/etc/passwd', join(folder, 'add/new.txt'));
    },
  ],
  ['LINK_REFUSED', 'linked', { add: { 'linked/new.txt': 'x' } }],
  ['LINK_REFUSED', 'link.txt', { add: { 'link.txt': 'x' } }],
  [
    'FILE_KIND',
    'add/fifo',
    {},
    (folder) => {
      fs.mkdirSync(join(folder, 'add'), { recursive: true });
      execFileSync('mkfifo', [join(folder, 'add/fifo')]);
    },
  ],
  ['FILE_MISSING', 'add/new.txt', with_({ adds: ['new.txt'] })],
  ['FILE_MISSING', 'manifest.yaml', {}, (folder) => fs.rmSync(join(folder, 'manifest.yaml'))],
  ['FILE_UNDECLARED', 'add/new.txt', with_({ adds: [] }, { 'new.txt': 'x' })],
  ['STRUCTURED_ONLY', 'package.json', { modify: { 'package.json': ['{}', '{}'] } }],
  [
    'DEPENDENCY_REFUSED',
    'manifest.yaml:structured.npm_dependencies.evil',
    declared({ npm_dependencies: { evil: 'git+https://example.org/x' } }),
  ],
  [
    'ENV_INVALID',
    'manifest.yaml:structured.env_additions.0',
    declared({ env_additions: ['NODE_OPTIONS'] }),
  ],
  [
    'COMPOSE_REFUSED',
    'manifest.yaml:structured.docker_compose_services.redis.privileged',
    service({ privileged: true }),
  ],
  ['MARKERS_PRESENT', 'add/a.ts', { add: { 'a.ts': '<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n' } }],
  ['CORE_TOO_OLD', 'manifest.yaml:core_version', { core: '9.0.0' }],
];

test('every refused package names its code and place, and leaves no trace', async () => {
  await using codebase = plain();
  for (const one of CASES) {
    const before = layOut(codebase, one);
    const [code, path] = one;
    // By folder: a package without a manifest has no name.
    const run = await codebase.claw('apply', './skills/bad');
    expect.soft(run, label(one)).toMatchObject({
      code: 1,
      json: { ok: false, outcome: 'refused', error: { code, path } },
    });
    expect.soft(everything(codebase.root), label(one)).toEqual(before);
  }
  const [code, path] = CASES.at(-1) ?? [];
  const planned = await codebase.claw('plan', 'apply', 'bad');
  expect(planned).toMatchObject({ code: 1, json: { verb: 'plan', error: { code, path } } });
});

test('the same refusals hold beside an installed skill', async () => {
  await using codebase = plain();
  const context = contextOf(codebase);
  expect((await engine.apply(context, ['good'])).outcome).toBe('done');
  for (const one of CASES) {
    const before = layOut(codebase, one);
    const [code, path] = one;
    await expect
      .soft(engine.apply(context, ['./skills/bad']))
      .rejects.toMatchObject({ code, path });
    expect.soft(everything(codebase.root), label(one)).toEqual(before);
  }
});

function layOut(codebase: Codebase, [, , parts, spoil]: Case): Readonly<Record<string, string>> {
  addSkill(codebase, 'bad', parts);
  spoil?.(codebase.path('skills/bad'));
  return everything(codebase.root);
}

function label([code, , parts]: Case): string {
  return `${code} ${JSON.stringify(parts).slice(0, 200)}`;
}

test('what does not fit the installed skills is refused without a trace as well', async () => {
  await using codebase = plain();
  addSkill(codebase, 'one', { add: { '1.txt': '1\n' }, manifest: { depends: ['two'] } });
  addSkill(codebase, 'two', { add: { '2.txt': '2\n' }, manifest: { depends: ['one'] } });
  const bare = everything(codebase.root);
  const circle = await codebase.claw('apply', 'one', 'two');
  expect(circle).toMatchObject({ code: 1, json: { error: { code: 'GRAPH_INVALID' } } });
  expect(everything(codebase.root)).toEqual(bare);
  expect((await codebase.claw('apply', 'good')).code).toBe(0);
  addSkill(codebase, 'good', { add: { 'good.txt': 'other\n' } });
  const before = everything(codebase.root);
  const changed = await codebase.claw('apply', 'good');
  expect(changed).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
  expect(everything(codebase.root)).toEqual(before);
});

function plain(): Codebase {
  const codebase = temporaryCodebase(
    { 'a.txt': 'a\n', 'package.json': '{"version":"1.0.0"}\n', 'real/b.txt': 'b\n' },
    { git: true },
  );
  codebase.write({ 'claw.config.yaml': 'protected: [locked/**]\n' });
  fs.symlinkSync('real', codebase.path('linked'));
  fs.symlinkSync('a.txt', codebase.path('link.txt'));
  addSkill(codebase, 'good', { add: { 'good.txt': 'good\n' } });
  return codebase;
}

/** Every path with its content and time stamps, git's folder left out: git refreshes its index. */
function everything(root: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (path.includes(`${root}/.git/`) || path === join(root, '.git')) continue;
    const { mtimeNs, ctimeNs, ino, mode } = fs.lstatSync(path, { bigint: true });
    const content = entry.isFile() ? fs.readFileSync(path, 'latin1') : '';
    found[path] = `${mode} ${ino} ${mtimeNs} ${ctimeNs} ${content}`;
  }
  const { mtimeNs } = fs.lstatSync(root, { bigint: true });
  return { ...found, '.': String(mtimeNs) };
}

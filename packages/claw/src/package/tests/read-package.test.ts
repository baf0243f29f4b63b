import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Tree } from '../../../../merge/src/versions.ts';
import { addedFile, baseFile, intentNote, modifiedFile, testTargets } from '../accessors.ts';
import { packageFiles } from '../package-fixture.ts';
import { packageFromFiles } from '../package-from-files.ts';
import { readPackage } from '../read-package.ts';
import { errorOf } from '../testing/error-of.ts';

const options = { protectedPaths: ['src/engine/**'] };
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folderOf(files: Tree): string {
  const folder = mkdtempSync(join(tmpdir(), 'claw-skill-'));
  folders.push(folder);
  for (const [path, { bytes }] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return folder;
}

const demo = packageFiles({
  add: { 'src/new.ts': 'export {};\n' },
  modify: { 'src/config.ts': 'two\n' },
  files: {
    'SKILL.md': '# Demo\n',
    'base/src/config.ts': 'one\n',
    'modify/src/config.ts.intent.md': 'What: two\n',
    'tests/demo.test.ts': 'test\n',
  },
  manifest: { test: ['tests/demo.test.ts'] },
});

test('a folder and the same files in memory are the same package', () => {
  const folder = folderOf(demo);
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git/HEAD'), 'ref');
  writeFileSync(join(folder, 'add/.DS_Store'), 'x');
  const read = readPackage(folder, options);
  expect(read).toEqual(packageFromFiles(demo, options));
  expect(read.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('the parts of a package are found by the project’s path', () => {
  const skill = packageFromFiles(demo, options);
  expect(addedFile(skill, 'src/new.ts')?.bytes.toString()).toBe('export {};\n');
  expect(modifiedFile(skill, 'src/config.ts')?.bytes.toString()).toBe('two\n');
  expect(baseFile(skill, 'src/config.ts')?.bytes.toString()).toBe('one\n');
  expect(intentNote(skill, 'src/config.ts')).toBe('What: two\n');
  expect(addedFile(skill, 'src/config.ts')).toBeNull();
  expect(intentNote(skill, 'src/new.ts')).toBeNull();
  expect(testTargets(skill)).toEqual(['skills/demo/tests/demo.test.ts']);
});

test('a NanoClaw test that lands in the project is found among the added files', () => {
  const skill = packageFromFiles(
    packageFiles({
      add: { 'src/a.test.ts': 'x' },
      files: { 'tests/b.test.ts': 'y' },
      manifest: { test: 'npx vitest run src/a.test.ts .claude/skills/add-demo/tests/b.test.ts' },
    }),
    options,
  );
  expect(skill.manifest.test).toEqual(['add/src/a.test.ts', 'tests/b.test.ts']);
  expect(testTargets(skill)).toEqual(['src/a.test.ts', 'skills/demo/tests/b.test.ts']);
});

test('an executable file stays one and changes the digest', () => {
  const folder = folderOf(demo);
  const before = readPackage(folder, options).digest;
  chmodSync(join(folder, 'add/src/new.ts'), 0o755);
  const after = readPackage(folder, options);
  expect(addedFile(after, 'src/new.ts')?.isExecutable).toBe(true);
  expect(after.digest).not.toBe(before);
});

test('a folder that is not there, or has no manifest, says so', () => {
  const folder = folderOf(new Map());
  expect(errorOf(() => readPackage(join(folder, 'none'), options))?.code).toBe('SKILL_NOT_FOUND');
  expect(errorOf(() => readPackage(folder, options))).toEqual({
    code: 'FILE_MISSING',
    path: 'manifest.yaml',
  });
});

test('links and special files are refused without being opened', () => {
  const linked = folderOf(demo);
  symlinkSync('/etc/passwd', join(linked, 'add/link'));
  expect(errorOf(() => readPackage(linked, options))).toEqual({
    code: 'LINK_REFUSED',
    path: 'add/link',
  });
  const folderLink = folderOf(demo);
  symlinkSync('/etc', join(folderLink, 'docs'));
  expect(errorOf(() => readPackage(folderLink, options))?.code).toBe('LINK_REFUSED');
  const piped = folderOf(demo);
  execFileSync('mkfifo', [join(piped, 'add/pipe')]);
  expect(errorOf(() => readPackage(piped, options))).toEqual({
    code: 'FILE_KIND',
    path: 'add/pipe',
  });
  const onlyLink = folderOf(new Map());
  symlinkSync('/etc/passwd', join(onlyLink, 'manifest.yaml'));
  expect(errorOf(() => readPackage(onlyLink, options))?.code).toBe('LINK_REFUSED');
});

test('a link on the way to a target is refused', () => {
  const project = folderOf(new Map());
  symlinkSync('/tmp', join(project, 'src'));
  const withProject = { ...options, projectDir: project };
  expect(errorOf(() => packageFromFiles(demo, withProject))).toEqual({
    code: 'LINK_REFUSED',
    path: 'src',
  });
});

test('a package over 64 MiB or 2,000 files is refused before it is read', () => {
  const large = folderOf(demo);
  writeFileSync(join(large, 'large.bin'), '');
  truncateSync(join(large, 'large.bin'), 64 * 1024 * 1024 + 1);
  expect(errorOf(() => readPackage(large, options))?.code).toBe('LIMIT_EXCEEDED');
  const file = { bytes: Buffer.alloc(0), isExecutable: false };
  const many = new Map([
    ...demo,
    ...Array.from({ length: 2000 }, (_, at) => [`docs/${at}`, file] as const),
  ]);
  expect(errorOf(() => packageFromFiles(many, options))?.code).toBe('LIMIT_EXCEEDED');
});

test('a name that is no UTF-8 is refused', () => {
  const folder = folderOf(demo);
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/add/`), Buffer.from([0xff, 0x61])]), 'x');
  expect(errorOf(() => readPackage(folder, options))?.code).toBe('PATH_UNSAFE');
});

const conflict = 'a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n';

test.each([
  ['add', { add: {}, manifest: { adds: ['a.ts'] } }, 'FILE_MISSING', 'add/a.ts'],
  ['modify', { manifest: { modifies: ['a.ts'] } }, 'FILE_MISSING', 'modify/a.ts'],
  ['test', { manifest: { test: ['tests/a.ts'] } }, 'FILE_MISSING', 'tests/a.ts'],
  ['stray add', { files: { 'add/a.ts': 'x' } }, 'FILE_UNDECLARED', 'add/a.ts'],
  ['stray base', { files: { 'base/a.ts': 'x' } }, 'FILE_UNDECLARED', 'base/a.ts'],
  ['stray note', { files: { 'modify/a.intent.md': 'x' } }, 'FILE_UNDECLARED', 'modify/a.intent.md'],
  ['unsafe target', { manifest: { adds: ['../a'] } }, 'PATH_UNSAFE', '../a'],
  [
    'unsafe deletion',
    { manifest: { file_ops: [{ type: 'delete', path: '/a' }] } },
    'PATH_UNSAFE',
    '/a',
  ],
  ['protected', { add: { 'src/engine/a.ts': 'x' } }, 'PATH_PROTECTED', 'src/engine/a.ts'],
  ['protected by git', { add: { '.git/hooks/a': 'x' } }, 'PATH_PROTECTED', '.git/hooks/a'],
  ['twice', { add: { 'a.ts': 'x' }, modify: { 'a.ts': 'x' } }, 'PATH_COLLISION', 'a.ts'],
  ['by case', { add: { 'a.ts': 'x', 'A.ts': 'x' } }, 'PATH_COLLISION', 'A.ts'],
  ['structured', { modify: { 'package.json': '{}' } }, 'STRUCTURED_ONLY', 'package.json'],
  ['lock', { add: { 'package-lock.json': '{}' } }, 'STRUCTURED_ONLY', 'package-lock.json'],
  ['env', { add: { '.env.example': '' } }, 'STRUCTURED_ONLY', '.env.example'],
  ['compose', { add: { 'Compose.yaml': '' } }, 'STRUCTURED_ONLY', 'Compose.yaml'],
  ['markers', { add: { 'a.ts': conflict } }, 'MARKERS_PRESENT', 'add/a.ts'],
  [
    'markers, CRLF',
    { modify: { 'a.ts': conflict.replaceAll('\n', '\r\n') } },
    'MARKERS_PRESENT',
    'modify/a.ts',
  ],
])('%s is refused with its code and path', (_, fixture, code, path) => {
  expect(errorOf(() => packageFromFiles(packageFiles(fixture), options))).toEqual({ code, path });
});

test('if a package has several faults, the first of the table is reported', () => {
  const faulty = packageFiles({
    add: { 'src/engine/a.ts': conflict },
    files: { 'add/stray': 'x' },
    manifest: { skill: 'demo', structured: { env_additions: ['PATH'] } },
  });
  expect(errorOf(() => packageFromFiles(faulty, options))?.code).toBe('PATH_PROTECTED');
  const open = { protectedPaths: [] };
  expect(errorOf(() => packageFromFiles(faulty, open))?.code).toBe('FILE_UNDECLARED');
  const link = [{ path: 'x', kind: 'link' }] as const;
  expect(errorOf(() => packageFromFiles(faulty, open, link))?.code).toBe('LINK_REFUSED');
});

test('an existing file is a collision only where the package does not move it away', () => {
  const renaming = packageFiles({
    files: { 'base/README.md': 'x' },
    manifest: { file_ops: [{ type: 'rename', from: 'README.md', to: 'readme.md' }] },
  });
  const existing = { ...options, existingPaths: ['README.md'] };
  expect(errorOf(() => packageFromFiles(renaming, existing))).toBeNull();
  const adding = packageFiles({ add: { 'readme.md': 'x' } });
  expect(errorOf(() => packageFromFiles(adding, existing))?.code).toBe('PATH_COLLISION');
});

test('prose that looks a little like a conflict is none', () => {
  const prose = packageFiles({ add: { 'a.md': 'Title\n=======\n>>>>>>> quoted\n<<<<<<< x\n' } });
  expect(errorOf(() => packageFromFiles(prose, options))).toBeNull();
});

test('a recorded customisation may carry structured and protected files', () => {
  const custom = packageFiles({ modify: { 'package.json': '{}', 'src/engine/a.ts': 'x' } });
  const own = { ...options, kind: 'customisation' } as const;
  expect(errorOf(() => packageFromFiles(custom, own))).toBeNull();
});

test('the digest depends on contents and not on the order of files', () => {
  const one = packageFromFiles(demo, options).digest;
  const reversed = packageFromFiles(new Map([...demo].reverse()), options).digest;
  const other = new Map(demo).set('SKILL.md', { bytes: Buffer.from('#'), isExecutable: false });
  expect(reversed).toBe(one);
  expect(packageFromFiles(other, options).digest).not.toBe(one);
});

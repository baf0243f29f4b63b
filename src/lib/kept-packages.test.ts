import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packFiles } from '../../packages/claw/src/installed/claw-folder.ts';
import { isKeptSkill, keptSkills, readKeptFile } from './kept-packages.ts';
import { skillOfFile } from './skill-packages.ts';

function project(files: Readonly<Record<string, string | Buffer>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'claw-kept-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

function packed(files: Readonly<Record<string, string>>): Buffer {
  const tree = Object.entries(files).map(
    ([path, text]) => [path, { bytes: Buffer.from(text), isExecutable: false }] as const,
  );
  return packFiles(new Map(tree));
}

test('a package that the engine keeps is read, as one file and as the folder of an earlier engine', () => {
  const dir = project({
    '.claw/packages/new.package': packed({ 'SKILL.md': '# Néw\n', 'add/src/a.ts': 'a\n' }),
    '.claw/packages/old/SKILL.md': '# Old\n',
    '.claw/packages/old/add/src/b.ts': 'b\n',
    '.claw/packages/old.bases/src/c.ts': 'c\n',
  });
  expect(keptSkills(dir)).toEqual(['new', 'old']);
  expect(['new', 'old', 'other'].map((name) => isKeptSkill(dir, name))).toEqual([
    true,
    true,
    false,
  ]);
  expect(readKeptFile(dir, 'new', 'SKILL.md')?.toString()).toBe('# Néw\n');
  expect(readKeptFile(dir, 'old', 'SKILL.md')?.toString()).toBe('# Old\n');
  expect(readKeptFile(dir, 'new', 'add')).toBe(null);
  expect(skillOfFile(dir, join(dir, 'src/a.ts'))).toBe('new');
  expect(skillOfFile(dir, join(dir, 'src/b.ts'))).toBe('old');
  expect(skillOfFile(dir, join(dir, 'src/c.ts'))).toBe(null);
});

test('a damaged file is not a package, and no tree has none', () => {
  const dir = project({ '.claw/packages/bad.package': '<<<<<<< HEAD\n' });
  expect(readKeptFile(dir, 'bad', 'SKILL.md')).toBe(null);
  expect(keptSkills(join(dir, 'nowhere'))).toEqual([]);
});

import { expect, test } from 'vitest';
import { errorOf } from '../testing/error-of.ts';
import {
  checkProtected,
  createConsent,
  createCustomisationProtection,
  createProtection,
} from './protection.ts';

const protection = createProtection(['src/engine/**', 'bin/*.js', 'secrets.production.json']);

test.each([
  ['.git/config', '**/.git/**'],
  ['.git', '**/.git/**'],
  ['vendor/lib/.git/hooks/post-checkout', '**/.git/**'],
  ['.GIT/config', '**/.git/**'],
  ['.ｇｉｔ/config', '**/.git/**'],
  ['GIT~1/config', '**/.git/**'],
  ['git~2/hooks/x', '**/.git/**'],
  ['GIB4D2~1/x', '**/.git/**'],
  ['.claw/state.yaml', '.claw/**'],
  ['.Claw/state.yaml', '.claw/**'],
  ['CLAW~1/state.yaml', '.claw/**'],
  ['claw.config.yaml', 'claw.config.yaml'],
  ['CLAW.CONFIG.YAML', 'claw.config.yaml'],
  ['.env', '**/.env*'],
  ['.env.local', '**/.env*'],
  ['.envrc', '**/.env*'],
  ['.ENV', '**/.env*'],
  ['ENV~1', '**/.env*'],
  ['packages/a/.env.production', '**/.env*'],
  ['node_modules/a/index.js', '**/node_modules/**'],
  ['NODE_M~1/a.js', '**/node_modules/**'],
  ['src/engine/errors.ts', 'src/engine/**'],
  ['src/engine/.hidden/x.ts', 'src/engine/**'],
  ['src/engine', 'src/engine/**'],
  ['SRC/Engine/x.ts', 'src/engine/**'],
  ['bin/claw.js', 'bin/*.js'],
  ['SECRET~1.JSO', 'secrets.production.json'],
])('%s is protected by %s', (path, glob) => {
  expect(protection.protectedBy(path)).toBe(glob);
});

test.each([
  '.env.example',
  'src/engines/a.ts',
  'src/index.ts',
  'bin/deep/claw.js',
  'claw.config.yaml.md',
  '.gitignore',
  'docs/environment.md',
  'notes~1.txt',
])('%s is not protected', (path) => {
  expect(protection.protectedBy(path)).toBeNull();
});

test('a protected path is refused with its code', () => {
  expect(errorOf(() => checkProtected('src/engine/a.ts', protection))).toEqual({
    code: 'PATH_PROTECTED',
    path: 'src/engine/a.ts',
  });
});

test('a customisation may touch what is protected from skills, but never git’s files or the state', () => {
  const own = createCustomisationProtection();
  expect(own.protectedBy('src/engine/a.ts')).toBeNull();
  expect(own.protectedBy('claw.config.yaml')).toBeNull();
  expect(own.protectedBy('.git/hooks/x')).not.toBeNull();
  expect(own.protectedBy('.claw/state.yaml')).not.toBeNull();
});

const consent = createConsent(['memories']);

test.each([
  '.npmrc',
  'packages/a/.npmrc',
  '.gitattributes',
  '.gitmodules',
  '.husky/pre-commit',
  '.github/workflows/ci.yml',
  '.GitHub/workflows/ci.yml',
  'GITHUB~1/workflows/ci.yml',
  '.vscode/tasks.json',
  '.claude/settings.json',
  'memories/main/CLAUDE.md',
])('a change of %s needs the owner’s word', (path) => {
  expect(consent.protectedBy(path)).not.toBeNull();
});

test.each(['src/memories/a.ts', 'groups/a.ts', 'README.md', '.gitignore', 'github/a.ts'])(
  'a change of %s needs nobody’s word',
  (path) => {
    expect(consent.protectedBy(path)).toBeNull();
  },
);

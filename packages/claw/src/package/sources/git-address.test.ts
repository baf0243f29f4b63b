import { expect, test } from 'vitest';
import { parseGitAddress } from './git-address.ts';

const CWD = '/projects/here';

test('a folder stands behind #, a ref before its colon', () => {
  const parse = (text: string) => {
    const address = parseGitAddress(text, CWD);
    return address && [address.ref, address.folder, address.fragment];
  };
  expect(parse('https://example.org/a.git')).toEqual([null, '', '']);
  expect(parse('https://example.org/a.git#skills/b')).toEqual([null, 'skills/b', '#skills/b']);
  expect(parse('https://example.org/a#v1.0:skills/b/')).toEqual([
    'v1.0',
    'skills/b',
    '#v1.0:skills/b',
  ]);
  expect(parse('git@example.org:me/a.git#feature/x@2:')).toEqual([
    'feature/x@2',
    '',
    '#feature/x@2:',
  ]);
  expect(parse('skills/telegram')).toBe(null);
  expect(parse('telegram')).toBe(null);
  expect(parse('./a.tgz')).toBe(null);
});

test('a repository of this machine is a path, whichever way it is written', () => {
  const path = (text: string) => {
    const repository = parseGitAddress(text, CWD)?.repository;
    return repository?.kind === 'local' ? repository.path : null;
  };
  expect(path('file:///srv/a.git#b')).toBe('/srv/a.git');
  expect(path('file:../a#b')).toBe('/projects/a');
  expect(path('../a.git#b')).toBe('/projects/a.git');
});

test('a shown address has no password and no token in it', () => {
  const shown = (text: string) => {
    const repository = parseGitAddress(text, CWD)?.repository;
    return repository?.kind === 'remote' ? repository.shown : null;
  };
  expect(shown('https://me:word@example.org/a.git')).toBe('https://example.org/a.git');
  expect(shown('https://token@example.org/a.git')).toBe('https://example.org/a.git');
  expect(shown('https://example.org/a.git?token=x')).toBe('https://example.org/a.git');
  expect(shown('ssh://git:word@example.org/a.git')).toBe('ssh://git@example.org/a.git');
  expect(shown('git@example.org:a.git')).toBe('git@example.org:a.git');
});

test('a folder that leads out of the repository is unsafe', () => {
  expect(() => parseGitAddress('https://example.org/a.git#../b', CWD)).toThrow(
    expect.objectContaining({ code: 'PATH_UNSAFE' }),
  );
});

test('text that looks like an option, or names a program to run, is not an address', () => {
  for (const text of [
    '--upload-pack=touch.git',
    'ext::sh -c touch',
    'ssh://-oProxyCommand=x/a.git',
    'git@example.org:\u001b[2J.git',
  ]) {
    expect(() => parseGitAddress(text, CWD)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  }
});

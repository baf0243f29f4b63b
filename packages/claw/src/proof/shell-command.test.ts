import { expect, test } from 'vitest';
import { parseCommand, shownCommand } from './shell-command.ts';

test('a plain command line runs without a shell', () => {
  expect(parseCommand('tsc --noEmit')).toEqual({ file: 'tsc', args: ['--noEmit'] });
});

test('quotes hold words together and are taken off', () => {
  expect(parseCommand(`run 'a b' --name="c d" e"f"`)).toEqual({
    file: 'run',
    args: ['a b', '--name=c d', 'ef'],
  });
});

test('a command line with operators is the shell’s, and file names stay arguments', () => {
  expect(parseCommand('npm run build && node --test', ['a b.ts', '$x.ts'])).toEqual({
    file: 'sh',
    args: ['-c', 'npm run build && node --test "$@"', 'sh', 'a b.ts', '$x.ts'],
  });
  expect(parseCommand('FOO=1 tsc').file).toBe('sh');
});

test('operators in single quotes are only text', () => {
  expect(parseCommand(`echo 'a && b'`)).toEqual({ file: 'echo', args: ['a && b'] });
});

test('an open quote is left to the shell to complain about', () => {
  expect(parseCommand(`echo "a`).file).toBe('sh');
});

test('files are appended as they are', () => {
  expect(parseCommand('vitest run', ['x y.test.ts'])).toEqual({
    file: 'vitest',
    args: ['run', 'x y.test.ts'],
  });
});

test.each([
  ['tsc --noEmit', 'tsc --noEmit'],
  ['A=1 B="two words" tsc -p x', 'tsc -p x'],
  ["A='b c'd=1 run", 'run'],
  ['A=1', 'A=1'],
  ['run A=1 b', 'run A=1 b'],
])('the owner is told of %j as %j', (line, told) => {
  expect(shownCommand(line)).toBe(told);
});

import { expect, test } from 'vitest';
import { declaration } from './declaration-fixture.ts';
import { composeStructured } from './declared-file.ts';
import { envData, setEnv } from './env.ts';
import { lineKeys } from './json/line-keys.ts';
import { mergeStructured } from './merge.ts';

const PEM = 'KEY="-----BEGIN-----\nNAME=in the key\n   \n-----END-----" # from the server\n';
const FILE = `ONE=1\n# a key\n${PEM}TWO=2\n`;

function merge(base: string, ours: string, theirs: string) {
  const versions = {
    base: Buffer.from(base),
    ours: Buffer.from(ours),
    theirs: Buffer.from(theirs),
  };
  const layers = ['you', 'core'] as const;
  const { bytes, conflicts } = mergeStructured({
    path: '.env.example',
    kind: 'env',
    versions,
    layers,
  });
  return { text: bytes?.toString(), conflicts: conflicts.map(({ path }) => path) };
}

test('a value in quotes that spans lines is one value, as programs read it', () => {
  expect(envData(Buffer.from(FILE))).toEqual({
    ONE: '1',
    KEY: '-----BEGIN-----\nNAME=in the key\n   \n-----END-----',
    TWO: '2',
  });
  expect(lineKeys('env', Buffer.from(FILE))?.map(([key]) => key)).toEqual([
    'ONE',
    'KEY',
    'KEY',
    'KEY',
    'KEY',
    'KEY',
    'TWO',
  ]);
  // A quotation mark that nothing closes is a sign like any other.
  expect(envData(Buffer.from('A="open\nB=2\n'))).toEqual({ A: '"open', B: '2' });
});

test('a whole value is taken from one side, and never a line of it', () => {
  const other = FILE.replace('in the key', 'of another key').replace('BEGIN', 'START');
  expect(merge(FILE, FILE.replace('ONE=1', 'ONE=11'), other)).toEqual({
    text: other.replace('ONE=1', 'ONE=11'),
    conflicts: [],
  });
  expect(merge(FILE, FILE.replace('BEGIN', 'MINE'), other).conflicts).toEqual(['.env.example#KEY']);
  expect(merge('ONE=1\n', 'ONE=11\n', `ONE=1\n${PEM}`)).toEqual({
    text: `ONE=11\n${PEM}`,
    conflicts: [],
  });
  expect(merge(FILE, FILE.replace('ONE=1', 'ONE=11'), FILE.replace(`# a key\n${PEM}`, ''))).toEqual(
    {
      text: 'ONE=11\nTWO=2\n',
      conflicts: [],
    },
  );
});

test('a decided value may span lines', () => {
  const set = setEnv(Buffer.from(FILE), 'KEY', 'x\ny')?.toString();
  expect(set).toBe(FILE.replace(PEM, 'KEY="x\ny" # from the server\n'));
  expect(setEnv(Buffer.from(FILE), 'KEY', '1')?.toString()).toBe(
    FILE.replace(PEM, 'KEY=1 # from the server\n'),
  );
  expect(setEnv(Buffer.from(FILE), 'KEY', 'every\n"\'`')).toBe(null);
  expect(setEnv(Buffer.from(FILE), 'KEY', null)?.toString()).toBe('ONE=1\nTWO=2\n');
});

test('a line inside a value names no setting, so that a skill’s is added', () => {
  const declarations = [declaration('a', { env: ['NAME', 'TWO'] })];
  const path = '.env.example';
  const { bytes } = composeStructured({
    path,
    kind: 'env',
    release: Buffer.from(FILE),
    declarations,
  });
  expect(bytes?.toString()).toBe(`${FILE}\nNAME=\n`);
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setInDotenv } from './dotenv.ts';

test('other lines of .env stay as they are, byte for byte, also what is no UTF-8', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claw-dotenv-'));
  const path = join(folder, '.env');
  writeFileSync(path, Buffer.from('\xef\xbb\xbfA=1\r\nNAME=Zo\xeb\n# \xff\n', 'latin1'));
  setInDotenv(path, { A: '2', KEY: 'ö' });
  const expected = Buffer.concat([
    Buffer.from('A=2\nNAME=Zo\xeb\n# \xff\n', 'latin1'),
    Buffer.from("KEY='ö'\n"),
  ]);
  expect(readFileSync(path)).toEqual(expected);
  expect(readdirSync(folder)).toEqual(['.env']);
  rmSync(folder, { recursive: true });
});

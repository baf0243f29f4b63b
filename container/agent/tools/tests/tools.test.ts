import { execFileSync } from 'node:child_process';
import {
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile as writeFileBytes,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentToolContext } from '../../../../src/testing/turn/agent-tool-context.ts';
import { tool as editFile } from '../edit-file.ts';
import { tool as listFiles } from '../list-files.ts';
import { tool as readFileTool } from '../read-file.ts';
import { tool as shell } from '../shell.ts';
import { tool as writeFile } from '../write-file.ts';

const context = agentToolContext();
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'claw-tools-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('files are written with their folders, read whole or in part, and listed', async () => {
  const path = join(dir, 'a/b.txt');
  expect(await writeFile.run({ path, content: 'one\ntwo\nthree\n' }, context)).toContain(
    '14 bytes',
  );
  expect(await readFileTool.run({ path }, context)).toBe('one\ntwo\nthree\n');
  expect(await readFileTool.run({ path, from_line: 2, lines: 1 }, context)).toBe('two');
  await symlink('/', join(dir, 'root'));
  expect(await listFiles.run({ path: dir, depth: 3 }, context)).toBe(
    [join(dir, 'a/'), join(dir, 'a/b.txt'), join(dir, 'root')].join('\n'),
  );
});

test('what is not text is told by its size instead of being read as text', async () => {
  const path = join(dir, 'red.png');
  await writeFileBytes(path, Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  await expect(readFileTool.run({ path, from_line: 1 }, context)).rejects.toThrow(
    'red.png is not text but 16 bytes of something else',
  );
});

test('a folder whose name is no UTF-8 is listed, and hides nothing beside it', async () => {
  await mkdir(Buffer.concat([Buffer.from(join(dir, 'a')), Buffer.from([0xe9])]));
  await writeFile.run({ path: join(dir, 'b.txt'), content: '' }, context);
  expect(await listFiles.run({ path: dir, depth: 2 }, context)).toBe(
    [join(dir, 'a\ufffd/'), join(dir, 'b.txt')].join('\n'),
  );
});

test('an edit needs its old text exactly once', async () => {
  const path = join(dir, 'a.txt');
  await writeFile.run({ path, content: 'a $& a' }, context);
  const edit = (old_text: string, more = {}) =>
    editFile.run({ path, old_text, new_text: '$1', ...more }, context);
  await expect(edit('b')).rejects.toThrow('is not in');
  await expect(edit('a')).rejects.toThrow('2 times');
  await edit('$&');
  expect(await readFile(path, 'utf8')).toBe('a $1 a');
  await edit('a', { replace_all: true });
  expect(await readFile(path, 'utf8')).toBe('$1 $1 $1');
});

test('an edit leaves alone what is no UTF-8 in the file', async () => {
  const path = join(dir, 'a.txt');
  await writeFileBytes(path, Buffer.from('\ufeffna\u00efve caf\xe9 \xff\r\n', 'latin1'));
  await editFile.run({ path, old_text: 'caf', new_text: 'Käse' }, context);
  const expected = Buffer.concat([
    Buffer.from('\ufeffna\u00efve ', 'latin1'),
    Buffer.from('Käse'),
    Buffer.from('\xe9 \xff\r\n', 'latin1'),
  ]);
  expect(await readFile(path)).toEqual(expected);
});

test('a pipe, a device and a file that would fill the memory are refused at once', async () => {
  const pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const refusal = 'is not a file but a pipe, a socket or a device';
  for (const path of [pipe, '/dev/zero']) {
    await expect(readFileTool.run({ path }, context)).rejects.toThrow(refusal);
    await expect(writeFile.run({ path, content: 'a' }, context)).rejects.toThrow(refusal);
    const edit = { path, old_text: 'a', new_text: 'b' };
    await expect(editFile.run(edit, context)).rejects.toThrow(refusal);
  }
  const huge = join(dir, 'huge.txt');
  await writeFile.run({ path: huge, content: '' }, context);
  await truncate(huge, 1_900_000_000);
  await expect(readFileTool.run({ path: huge }, context)).rejects.toThrow('has 1812 MB');
});

test('a command gives both its outputs and how it ended', async () => {
  const run = (command: string) => shell.run({ command }, context);
  expect(await run('echo out; echo err >&2; exit 3')).toBe('out\nerr\n[exit code 3]');
  expect(await run('true')).toBe('[exit code 0]');
});

test('long output is cut, and says how long it was', async () => {
  const output = await shell.run({ command: 'yes | head -c 200000' }, context);
  expect(output.length).toBeLessThan(66_000);
  expect(output).toContain('[cut: 200000 bytes in all]');
});

test('what a command leaves in the background does not hold it up', async () => {
  const output = await shell.run({ command: 'sleep 600 & echo $!' }, context);
  const [, pid] = /^(\d+)\n\[exit code 0\]$/.exec(output) ?? [];
  process.kill(Number(pid), 'SIGKILL');
});

test('an aborted turn ends its command with all that it started', async () => {
  const aborting = new AbortController();
  const running = shell.run(
    { command: 'sh -c "sleep 30"; echo on' },
    { ...context, signal: aborting.signal },
  );
  setTimeout(() => aborting.abort(), 100);
  expect(await running).toMatch(/^\[killed/);
});

test('input that does not fit is refused before anything is run', async () => {
  const refused = async () => shell.run({ command: 7 }, context);
  await expect(refused()).rejects.toThrow('expected string');
});

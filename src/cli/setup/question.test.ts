import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';

const ASKS = `
  import { createAsk } from '${join(import.meta.dirname, 'question.ts')}';
  const ask = createAsk();
  const check = (typed) => (['brave', 'tavily'].includes(typed) ? null : 'One of two.');
  const first = await ask({ message: 'Which?', proposed: 'brave', check });
  const second = await ask({ message: 'And then?', proposed: 'brave', check });
  console.log('GOT ' + first + ' ' + second);
`;
const NODE = [process.execPath, '--input-type=module', '-e'] as const;

test('an empty line gives what is proposed, and what is typed stands alone', async () => {
  const quoted = `'${ASKS.replaceAll("'", `'\\''`)}'`;
  const child = spawn('script', [
    '-qefc',
    `stty cols 80; ${NODE.join(' ')} ${quoted}`,
    '/dev/null',
  ]);
  let seen = '';
  child.stdout.on('data', (chunk) => {
    seen += stripVTControlCharacters(String(chunk));
  });
  await vi.waitFor(() => expect(seen).toContain('Which?'));
  child.stdin.write('\r');
  await vi.waitFor(() => expect(seen).toContain('And then?'));
  child.stdin.write('tavily\r');
  await vi.waitFor(() => expect(seen).toContain('GOT brave tavily'));
  child.kill();
});

test('a question and a refusal wider than the terminal are broken between words, after the bar', async () => {
  const words = 'of several people with commas between them '.repeat(4).trim();
  const asks = `
    import { createAsk } from '${join(import.meta.dirname, 'question.ts')}';
    const check = (typed) => (typed === 'ada' ? null : 'No: ${words}.');
    console.log('GOT ' + (await createAsk()({ message: 'Who: ${words}?', check })));
  `;
  const quoted = `'${asks.replaceAll("'", `'\\''`)}'`;
  const command = `stty cols 60; ${NODE.join(' ')} ${quoted}`;
  const child = spawn('script', ['-qefc', command, '/dev/null']);
  let seen = '';
  child.stdout.on('data', (chunk) => {
    seen += stripVTControlCharacters(String(chunk));
  });
  await vi.waitFor(() => expect(seen).toMatch(/between\s[│\s]*them\?/));
  child.stdin.write('bob\r');
  await vi.waitFor(() => expect(seen).toMatch(/between\s[│\s]*them\./));
  const lines = seen.split(/[\r\n]+/).filter((line) => /people|commas|between/.test(line));
  expect(lines.filter((line) => line.length > 60 || !/^[│◆■▲◇] {2}\S/u.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('│')).length).toBeGreaterThanOrEqual(5);
  child.kill();
});

test('who is refused twice is told how to leave', async () => {
  const quoted = `'${ASKS.replaceAll("'", `'\\''`)}'`;
  const command = `stty cols 80; ${NODE.join(' ')} ${quoted}`;
  const child = spawn('script', ['-qefc', command, '/dev/null']);
  let seen = '';
  child.stdout.on('data', (chunk) => {
    seen += stripVTControlCharacters(String(chunk));
  });
  const refusals = () => seen.split('One of two.').length - 1;
  await vi.waitFor(() => expect(seen).toContain('Which?'));
  child.stdin.write('bing\r');
  await vi.waitFor(() => expect(seen.split('One of two.').at(1)).toContain('Which?'));
  expect(seen).not.toContain('Ctrl-C');
  child.stdin.write('\r');
  await vi.waitFor(() => expect(seen).toContain('One of two. Is an earlier answer wrong? Ctrl-C'));
  expect(refusals()).toBe(2);
  child.kill();
});

test('so does an empty line that is piped in', async () => {
  const child = spawn(NODE[0], [...NODE.slice(1), ASKS]);
  child.stdin.end('\ntavily\n');
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  await new Promise((resolve) => child.on('close', resolve));
  expect(said).toBe('GOT brave tavily\n');
});

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';

const ASKS = `
  import { createAsk } from '${join(import.meta.dirname, 'question.ts')}';
  const ask = createAsk(new AbortController().signal);
  const check = (typed) => (['brave', 'tavily'].includes(typed) ? null : 'One of two.');
  const first = await ask({ message: 'Which?', proposed: 'brave', check });
  const second = await ask({ message: 'And then?', proposed: 'brave', check });
  console.log('GOT ' + first + ' ' + second);
`;
const NODE = [process.execPath, '--input-type=module', '-e'] as const;

/** Runs a program on a terminal of its own. */
function onTerminal(program: string, columns = 80) {
  const quoted = `'${program.replaceAll("'", `'\\''`)}'`;
  const command = `stty cols ${columns}; ${NODE.join(' ')} ${quoted}`;
  const child = spawn('script', ['-qefc', command, '/dev/null']);
  let seen = '';
  child.stdout.on('data', (chunk) => {
    seen += stripVTControlCharacters(String(chunk));
  });
  return {
    seen: () => seen,
    type: (keys: string) => void child.stdin.write(keys),
    kill: () => void child.kill(),
  };
}

test('an empty line gives what is proposed, and what is typed stands alone', async () => {
  const child = onTerminal(ASKS);
  await vi.waitFor(() => expect(child.seen()).toContain('Which?'));
  child.type('\r');
  await vi.waitFor(() => expect(child.seen()).toContain('And then?'));
  child.type('tavily\r');
  await vi.waitFor(() => expect(child.seen()).toContain('GOT brave tavily'));
  child.kill();
});

test('a question and a refusal wider than the terminal are broken between words, after the bar', async () => {
  const words = 'of several people with commas between them '.repeat(4).trim();
  const asks = `
    import { createAsk } from '${join(import.meta.dirname, 'question.ts')}';
    const check = (typed) => (typed === 'ada' ? null : 'No: ${words}.');
    console.log('GOT ' + (await createAsk(new AbortController().signal)({ message: 'Who: ${words}?', check })));
  `;
  const child = onTerminal(asks, 60);
  await vi.waitFor(() => expect(child.seen()).toMatch(/between\s[│\s]*them\?/));
  child.type('bob\r');
  await vi.waitFor(() => expect(child.seen()).toMatch(/between\s[│\s]*them\./));
  const lines = child
    .seen()
    .split(/[\r\n]+/)
    .filter((line) => /people|commas|between/.test(line));
  expect(lines.filter((line) => line.length > 60 || !/^[│◆■▲◇] {2}\S/u.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('│')).length).toBeGreaterThanOrEqual(5);
  child.kill();
});

test('a refused answer is gone from the line; who is refused twice is told how to leave', async () => {
  const child = onTerminal(ASKS);
  await vi.waitFor(() => expect(child.seen()).toContain('Which?'));
  child.type('bing\r');
  await vi.waitFor(() => expect(child.seen().split('One of two.').at(1)).toContain('Which?'));
  expect(child.seen()).not.toContain('Ctrl-C');
  child.type('bong\r');
  await vi.waitFor(() => expect(child.seen()).toContain('One of two. Ctrl-C leaves'));
  await vi.waitFor(() => expect(child.seen().split('One of two.').at(2)).toContain('Which?'));
  child.type('brave\r');
  await vi.waitFor(() => expect(child.seen()).toContain('And then?'));
  child.type('bing\r');
  await vi.waitFor(() => expect(child.seen().split('One of two.').at(3)).toContain('And then?'));
  child.type('bong\r');
  await vi.waitFor(() =>
    expect(child.seen()).toContain('One of two. Is an earlier answer wrong? Ctrl-C'),
  );
  child.kill();
});

test('a try that takes long is told, and who presses Ctrl-C during it has left', async () => {
  const child = onTerminal(`
    import { createAsk } from '${join(import.meta.dirname, 'question.ts')}';
    const leaving = new AbortController();
    process.once('SIGINT', () => leaving.abort());
    setInterval(() => {}, 1000);
    const check = () => (console.log('TRYING'), new Promise(() => {}));
    await createAsk(leaving.signal)({ message: 'Which?', check }).catch(({ code }) => console.log('GOT ' + code));
    process.exit();
  `);
  await vi.waitFor(() => expect(child.seen()).toContain('Which?'));
  child.type('bing\r');
  await vi.waitFor(() => expect(child.seen()).toContain('TRYING'));
  await vi.waitFor(() => expect(child.seen()).toContain('Trying it …'));
  child.type('\x03');
  await vi.waitFor(() => expect(child.seen()).toContain('GOT INTERRUPTED'));
  child.kill();
});

test('a command to copy is not broken, whatever is broken around it', async () => {
  const child = onTerminal(`
    import { fitted } from '${join(import.meta.dirname, 'fitted-text.ts')}';
    console.log(fitted('${'word '.repeat(30)}\\n  curl ${'x'.repeat(40)} ${'y'.repeat(60)}') + ' END');
  `);
  await vi.waitFor(() => expect(child.seen()).toContain('END'));
  expect(child.seen()).toContain(`  curl ${'x'.repeat(40)} ${'y'.repeat(60)}`);
  const words = child
    .seen()
    .split(/[\r\n]+/)
    .filter((line) => line.startsWith('word'));
  expect(words.length).toBe(2);
  child.kill();
});

test('an empty line that is piped in takes the proposed answer too', async () => {
  const child = spawn(NODE[0], [...NODE.slice(1), ASKS]);
  child.stdin.end('\ntavily\n');
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  await new Promise((resolve) => child.on('close', resolve));
  expect(said).toBe('GOT brave tavily\n');
});

test('if no line is left, an optional question takes its proposal, and any other ends the step', async () => {
  const asks = `
    import { createAsk } from '${join(import.meta.dirname, 'question.ts')}';
    const ask = createAsk(new AbortController().signal);
    const check = () => null;
    const first = await ask({ message: 'Which?', proposed: 'brave', check });
    const second = await ask({ message: 'More?', proposed: '-', isOptional: true, check });
    const third = await ask({ message: 'And then?', proposed: 'brave', check }).catch(({ code }) => code);
    console.log(['GOT', first, second, third].join(' '));
  `;
  const child = spawn(NODE[0], [...NODE.slice(1), asks]);
  child.stdin.end('tavily\n');
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  await new Promise((resolve) => child.on('close', resolve));
  expect(said).toBe('GOT tavily - USAGE\n');
});

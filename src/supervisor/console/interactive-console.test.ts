import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';

const CONSOLE = pathToFileURL(join(import.meta.dirname, './interactive-console.ts')).href;

/** Prints what it is told, and answers `later` when something else is being typed. */
const PROGRAM = `
import { interactiveConsole } from ${JSON.stringify(CONSOLE)};
const { stdin: input, stdout: output } = process;
const history = { size: 10, read: () => [], add() {} };
const screen = interactiveConsole({ input, output, history, isStyled: false });
const answer = '# Title\\n\\nSome **words** that are longer than a row.\\n\\n- one\\n- two\\n\\nEnd';
const grow = (from) => {
  if (from >= answer.length) {
    screen.print(answer, 'd');
    return void screen.print('All is said.');
  }
  screen.grow({ id: 'd', from, text: answer.slice(from, from + 9) });
  setImmediate(grow, from + 9);
};
screen.open('> ', {
  onLine(text) {
    screen.print('said ' + JSON.stringify(text));
    if (text === 'grow') grow(0);
    if (text === 'work') screen.setActivity('Andy is typing');
    if (text !== 'later') return;
    input.once('data', () => setImmediate(() => screen.print('one two three four five six seven')));
  },
  complete: async (typed) =>
    (typed.includes(' ') ? ['/register Ada', '/register Family Chat'] : ['/register ', '/reset'])
      .filter((line) => line.startsWith(typed)),
  onEnd: () => process.exit(0),
});
`;

/** Returns the program on a terminal of 24 columns. */
function open() {
  const folder = mkdtempSync(join(tmpdir(), 'claw-terminal-'));
  const path = join(folder, 'program.ts');
  writeFileSync(path, PROGRAM);
  const command = `stty cols 24 rows 20; exec ${process.execPath} ${path}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm' },
  });
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
  });
  onTestFinished(() => {
    child.kill();
    rmSync(folder, { recursive: true });
  });
  const seen = (): string => stripVTControlCharacters(raw).replaceAll('\r', '');
  return {
    type: (text: string) => void child.stdin.write(text),
    seen,
    raw: () => raw,
    isReady: () => vi.waitFor(() => expect(raw).toContain('\u001b[?2004h')),
    sees: (part: string) => vi.waitFor(() => expect(seen()).toContain(part)),
    async end() {
      child.stdin.write('\u0004');
      const [code] = await once(child, 'close');
      return code;
    },
  };
}

test('a paste is one message, a backslash goes on, and Ctrl-C drops what was begun', async () => {
  const terminal = open();
  await terminal.isReady();
  terminal.type('\u001b[200~one\rtwo\\\rthree\u001b[201~');
  await terminal.sees('… three');
  expect(terminal.raw()).not.toContain('said');
  terminal.type(' and more\r');
  await terminal.sees('and more"');
  const said = JSON.stringify('one\ntwo\\\nthree and more');
  expect(terminal.seen().replace(/\s/g, '')).toContain(`said${said}`.replace(/\s/g, ''));
  terminal.type('four\\\r');
  await terminal.sees('four\\\n… ');
  terminal.type('\u0003');
  terminal.type('five\r');
  await terminal.sees('said "five"');
  expect(await terminal.end()).toBe(0);
  expect(terminal.raw()).toContain('\u001b[?2004l');
});

test('messages that arrive while a line is typed appear above it, with whole words', async () => {
  const terminal = open();
  await terminal.isReady();
  terminal.type('later\r');
  await terminal.sees('said "later"');
  terminal.type('half a line');
  await terminal.sees('six seven');
  expect(terminal.seen()).toContain('one two three four five\nsix seven\n> half a line');
  terminal.type(' done\r');
  await terminal.sees('said "half a line done"');
  await terminal.end();
});

test('the mark of typing stays while other things arrive', async () => {
  const terminal = open();
  await terminal.isReady();
  terminal.type('work\r');
  await terminal.sees('⠋');
  terminal.type('more\r');
  await terminal.sees('said "more"');
  const before = terminal.raw().length;
  await vi.waitFor(() => expect(terminal.raw().slice(before)).toMatch(/[⠙⠹⠸⠼⠴⠦⠧⠇⠏]/));
  await terminal.end();
});

/** Returns what is on a terminal of 24 columns after all that was written to it: enough of one for these tests. */
function screenAfter(raw: string): string {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const put = (character: string): void => {
    if (column === 24) [row, column] = [row + 1, 0];
    while (rows.length <= row) rows.push([]);
    const line = rows[row] ?? [];
    while (line.length < column) line.push(' ');
    line[column] = character;
    column += 1;
  };
  for (const [piece, parameter = '', kind] of raw.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|[\s\S]/g)) {
    const count = Number(parameter || 1);
    if (kind === 'A') row = Math.max(0, row - count);
    else if (kind === 'B') row += count;
    else if (kind === 'C') column += count;
    else if (kind === 'D') column -= count;
    else if (kind === 'G') column = count - 1;
    else if (kind === 'J') rows.splice(row, rows.length, (rows[row] ?? []).slice(0, column));
    else if (kind === 'K') rows[row] = (rows[row] ?? []).slice(0, column);
    else if (piece === '\r') column = 0;
    else if (piece === '\n') row += 1;
    else if (kind === undefined) put(piece);
  }
  return rows.map((line) => line.join('').trimEnd()).join('\n');
}

test('an answer that grows is on the screen once at its end, with what was typed meanwhile', async () => {
  const terminal = open();
  await terminal.isReady();
  terminal.type('grow\r');
  // Before its end, what is typed goes above the part that still grows.
  await terminal.sees('All is said.\n> ');
  terminal.type('more\r');
  await terminal.sees('said "more"');
  expect(screenAfter(terminal.raw())).toBe(
    [
      '> grow',
      'said "grow"',
      '# Title',
      '',
      'Some **words** that are',
      'longer than a row.',
      '',
      '- one',
      '- two',
      '',
      'End',
      'All is said.',
      '> more',
      'said "more"',
      '>',
    ].join('\n'),
  );
  await terminal.end();
});

test('Tab completes a command and its arguments, lists what fits, and is a character in a paste', async () => {
  const terminal = open();
  await terminal.isReady();
  terminal.type('/r\t');
  await terminal.sees('> /re');
  terminal.type('\t');
  await terminal.sees('/register ');
  expect(terminal.seen()).toContain('/reset');
  terminal.type('g\t');
  await terminal.sees('> /register ');
  terminal.type('F\t');
  await terminal.sees('Family Chat');
  terminal.type('\r');
  await terminal.sees('said "/register');
  expect(terminal.seen().replace(/\s+/g, ' ')).toContain('said "/register Family Chat"');
  // What is not a command, and the second line of a message, are left as they are.
  terminal.type('tea\t\r');
  await terminal.sees('said "tea"');
  terminal.type('\u001b[200~a\t\u001b[201~');
  terminal.type('b\r');
  await terminal.sees('said "a\\tb"');
  await terminal.end();
});

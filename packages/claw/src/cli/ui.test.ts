import { expect, test, vi } from 'vitest';
import { createUi, frameLine } from './ui.ts';

test('a step that is at work stays on its line, however long its words are', () => {
  expect(frameLine('⠋ npm install', 40)).toBe('\r\u001b[K⠋ npm install');
  const line = frameLine(`⠋ test: ${'agent-skills, '.repeat(9)}`, 40);
  expect(line).toBe('\r\u001b[K⠋ test: agent-skills, agent-skills, ag…');
  expect(line.length - '\r\u001b[K'.length).toBe(39);
});

/** Returns the lines that a terminal keeps of what a UI wrote. */
function linesOf(use: (ui: ReturnType<typeof createUi>) => void, isTTY = true): readonly string[] {
  const shown = writtenBy(use, isTTY).filter((text) => text.endsWith('\n'));
  return shown
    .join('')
    .replace(/\u001b\[[0-9]*[A-Za-z]|\r/g, '')
    .replace(/ \d+\.\d s$/gm, '')
    .trimEnd()
    .split('\n');
}

function writtenBy(use: (ui: ReturnType<typeof createUi>) => void, isTTY: boolean): string[] {
  const written: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const wasTTY = process.stderr.isTTY;
  process.stderr.isTTY = isTTY;
  try {
    use(createUi({ isPlain: false, isQuiet: false }));
  } finally {
    process.stderr.isTTY = wasTTY;
    write.mockRestore();
  }
  return written;
}

const PROOF = [
  { kind: 'step', text: 'Composing' },
  { kind: 'started', text: 'check: tsc' },
  { kind: 'started', text: 'test: guard, web' },
  { kind: 'output', text: 'test: guard, web', output: 'not ok 1\n' },
  { kind: 'ended', text: 'test: guard, web', outcome: 'failed' },
  { kind: 'started', text: 'test: guard' },
  { kind: 'ended', text: 'test: guard', outcome: 'failed' },
  { kind: 'started', text: 'checking whether it also fails without the change: test: guard' },
  {
    kind: 'ended',
    text: 'checking whether it also fails without the change: test: guard',
    outcome: 'passed',
  },
  { kind: 'ended', text: 'check: tsc', outcome: 'stopped' },
] as const;

test('each step of a proof has the mark of its own end, also beside others', () => {
  const lines = linesOf((ui) => {
    for (const event of PROOF) ui.progress(event);
    ui.stop(false);
  });
  expect(lines).toEqual([
    '✓ Composing',
    '✗ test: guard, web',
    '✗ test: guard',
    '✓ checking whether it also fails without the change: test: guard',
    '– check: tsc',
  ]);
});

test('in a pipe a step is told when it starts, and again if it does not pass', () => {
  const lines = linesOf((ui) => {
    for (const event of PROOF) ui.progress(event);
  }, false);
  expect(lines.filter((line) => line.includes('guard'))).toEqual([
    'test: guard, web',
    '✗ test: guard, web',
    'test: guard',
    '✗ test: guard',
    'checking whether it also fails without the change: test: guard',
  ]);
});

test('a step that runs when the command fails has failed, unless it ends by itself', () => {
  const lines = linesOf((ui) => {
    ui.progress({ kind: 'step', text: 'Installing packages' });
    ui.progress({ kind: 'note', text: 'npm install' });
    ui.stop(false);
  });
  expect(lines).toEqual(['  npm install', '✗ Installing packages']);
});

test.each([
  ['NO_COLOR', '1', /\u001b\[\d+m/],
  ['TERM', 'dumb', /\u001b|\r/],
])('a terminal with %s=%s is sent nothing that it does not take', (name, value, refused) => {
  vi.stubEnv('NO_COLOR', '');
  vi.stubEnv('TERM', 'xterm');
  const use = (ui: ReturnType<typeof createUi>) => {
    for (const event of PROOF) ui.progress(event);
    ui.progress({ kind: 'note', text: 'npm install' });
    ui.stop(true);
  };
  expect(writtenBy(use, true).join('')).toMatch(refused);
  vi.stubEnv(name, value);
  const text = writtenBy(use, true).join('');
  vi.unstubAllEnvs();
  expect(text).not.toMatch(refused);
  expect(text).toContain('✗ test: guard, web');
});

test('for programs each event is a line of JSON, with what a step printed', () => {
  const written: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const ui = createUi({ isPlain: true, isQuiet: false, isForPrograms: true });
  for (const event of PROOF) ui.progress(event);
  write.mockRestore();
  expect(written.map((line) => JSON.parse(line))).toEqual(PROOF);
});

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
  const shown = written.filter((text) => text.endsWith('\n')).join('');
  return shown
    .replace(/\u001b\[[0-9]*[A-Za-z]|\r/g, '')
    .replace(/ \d+\.\d s$/gm, '')
    .trimEnd()
    .split('\n');
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

import { expect, test } from 'vitest';
import { reviewCode, reviewShell } from '../../../src/guards/guard/review.ts';
import { ASKED, BLOCKED, EVERYDAY, KEEPING, LOSING, UNCLEAR } from './commands.ts';

const NONE = new Set<string>();
const kindOf = (text: string) => reviewShell(text, NONE).kind;

/** A command inside twenty others, each of which is known only from the one before. */
const nested = (depth: number) =>
  Array.from({ length: depth }, (_, at) => `a${at + 1}='eval "$a${at}"'`)
    .concat(`eval "$a${depth}"`)
    .join('; ')
    .replace(/^/, "a0='rm -rf /'; ");

test('dangerous commands are blocked in every disguise, by the pattern that they hide', () => {
  const missed = Object.entries(BLOCKED).flatMap(([pattern, texts]) =>
    texts.flatMap((text) => {
      const { kind, reason } = reviewShell(text, NONE);
      return kind === 'block' && reason.includes(`Blocked (${pattern})`)
        ? []
        : [[pattern, text, kind, reason]];
    }),
  );
  expect(missed).toEqual([]);
  expect(Object.values(BLOCKED).flat().length).toBeGreaterThan(150);
});

test('commands of every day run unasked', () => {
  const stopped = EVERYDAY.flatMap((text) => {
    const { kind, reason } = reviewShell(text, NONE);
    return kind === 'run' ? [] : [[text, kind, reason]];
  });
  expect(stopped).toEqual([]);
  expect(EVERYDAY.length).toBeGreaterThan(120);
});

test('what may lose work, or is not known, is asked about', () => {
  expect(ASKED.filter((text) => kindOf(text) !== 'ask')).toEqual([]);
});

test('what is known only when it runs, is not whole, or is not a command is blocked', () => {
  expect(UNCLEAR.filter((text) => kindOf(text) !== 'block')).toEqual([]);
  expect(reviewShell('"$0" x', NONE)).toMatchObject({
    confidence: 0.3,
    reason: expect.stringContaining('the program itself is known only when it runs'),
  });
});

test('writing over a file that is there is asked about, with another way; what loses nothing is not', () => {
  const there: Readonly<Record<string, 'file' | 'folder'>> = {
    '/workspace/group/notes.md': 'file',
    '/workspace/group/docs': 'folder',
    '/workspace/group/docs/a.md': 'file',
  };
  const reviewed = (text: string) => reviewShell(text, NONE, (path) => there[path] ?? null);
  const overwriting = [
    'echo x > notes.md',
    'echo x >| ./notes.md',
    'ls &> notes.md',
    'ls | tee notes.md',
    'mv new notes.md',
    'mv -f new /workspace/group/notes.md',
    'cp new notes.md',
    'cd docs && ls > a.md',
    'cd docs; ls > ../notes.md',
    'mv a.md docs',
    'mv /tmp/a.md docs/',
    'cp -t docs a.md',
    'sudo mv new notes.md',
    "bash -c 'echo x > notes.md'",
    'f=notes.md; ls > "$f"',
    '{ ls; } > notes.md',
  ];
  expect(overwriting.filter((text) => reviewed(text).kind !== 'ask')).toEqual([]);
  expect(reviewed('ls > notes.md').reason).toBe(
    '`> file`: It writes over /workspace/group/notes.md, and what is in that file is lost. Another way: a new name, `>>`, `mv -n`, or a copy of it first.',
  );
  const harmless = [
    'ls > new.md',
    'ls >> notes.md',
    'ls | tee -a notes.md',
    'ls > /tmp/notes.md',
    'ls > /dev/null 2>&1',
    'mv notes.md old.md',
    'mv -n new notes.md',
    'cp --backup new notes.md',
    'mv b.md docs',
    'cp notes.md notes.bak && ls > notes.md',
    'cat < notes.md',
    'cd /tmp && ls > notes.md',
  ];
  expect(harmless.filter((text) => reviewed(text).kind !== 'run')).toEqual([]);
});

test('whatever loses work is asked about or blocked, and what keeps it runs', () => {
  const there: Readonly<Record<string, 'file' | 'folder'>> = {
    '/workspace/group/notes.md': 'file',
    '/workspace/group/b.md': 'file',
    '/workspace/group/x.db': 'file',
    '/workspace/group/docs': 'folder',
    '/workspace/group/docs/a.md': 'file',
  };
  // What is not known is asked about anyway: here all programs are the owner's own.
  const own = new Set(
    'docker podman rsync crontab kubectl aws install psql mysql dropdb redis-cli'.split(' '),
  );
  const kind = (text: string) => reviewShell(text, own, (path) => there[path] ?? null).kind;
  for (const [way, texts] of Object.entries(LOSING)) {
    expect(
      texts.filter((text) => kind(text) !== 'ask'),
      way,
    ).toEqual([]);
  }
  expect(KEEPING.filter((text) => kind(text) !== 'run')).toEqual([]);
});

test('the confidence is that of the language and the shape, with the limits of the ruling', () => {
  expect(reviewShell('ls', NONE)).toEqual({ kind: 'run', confidence: 1, reason: '' });
  expect(reviewShell('ls > /opt/x', NONE)).toEqual({ kind: 'run', confidence: 0.9, reason: '' });
  expect(reviewShell('frobnicate', NONE)).toEqual({
    kind: 'ask',
    confidence: 0.8,
    reason: 'Confidence 0.8: `frobnicate` is not a program that is known here.',
  });
  expect(reviewShell('frobnicate > /opt/x', NONE)).toMatchObject({ kind: 'ask', confidence: 0.7 });
  expect(reviewShell('Please delete the files.', NONE)).toMatchObject({
    kind: 'block',
    confidence: 0.3,
  });
  expect(reviewShell('frobnicate', new Set(['frobnicate']))).toMatchObject({ kind: 'run' });
});

test('programs in other languages are reviewed as well', () => {
  const kinds = (language: string, code: string) => reviewCode({ language, code }, NONE).kind;
  expect(kinds('python', 'import csv\nfor row in csv.reader(open("x")):\n    print(row)')).toBe(
    'run',
  );
  expect(kinds('rust', 'fn main() { println!("{}", 1 + 1); }')).toBe('run');
  expect(kinds('bash', 'rm -rf /')).toBe('block');
  expect(kinds('python', 'rm -rf /')).toBe('block');
  expect(kinds('python', 'import os\nos.system("rm -rf " + "/")')).toBe('block');
  expect(kinds('python', 'import subprocess\nsubprocess.run(["ls"])')).toBe('run');
  expect(kinds('python', 'exec(base64.b64decode("x")); os.system("ls")')).toBe('ask');
  expect(kinds('text', 'please remove everything')).toBe('block');
  expect(kinds('cobol', 'DISPLAY "HELLO".')).toBe('block');
});

test('a reason names the pattern, what it does and another way', () => {
  expect(reviewShell('rm -rf x', NONE)).toEqual({
    kind: 'block',
    confidence: null,
    reason:
      'Blocked (rm -rf): It deletes everything below a folder without a question. Name the files: `rm <file>`. For one folder, `rm -r <folder>` asks the owner first.',
  });
});

test('a command that is made to take long or to confuse ends, and does not run', () => {
  for (const text of [
    '('.repeat(5_000),
    '$('.repeat(2_000),
    '"'.repeat(9_999),
    `eval ${"'".repeat(999)}`,
    'x'.repeat(200_000),
    nested(20),
    `x=${'a'.repeat(100)}; ${'x="$x$x"; '.repeat(60)} $x`,
    `${'for i in 1 2 3 4 5 6 7 8 9; do '.repeat(12)} y=1; ${'done; '.repeat(12)}`,
    `a0='ls'; ${Array.from({ length: 30 }, (_, at) => `a${at + 1}='eval "$a${at}"; eval "$a${at}"'`).join('; ')}; eval "$a30"`,
  ]) {
    expect(kindOf(text), text.slice(0, 20)).not.toBe('run');
  }
  expect(kindOf(`echo ${'word '.repeat(5_000)}`)).toBe('run');
});

test('a word of thousands of braces is blocked, and braces of every day are not', () => {
  expect(kindOf(`echo ${'{'.repeat(99_000)}`)).toBe('block');
  expect(kindOf(`echo ${'{a,'.repeat(33_000)}`)).toBe('block');
  expect(kindOf('mkdir -p a/{b,c,d}/{e,f}')).toBe('run');
  const rows = Array.from({ length: 400 }, (_, at) => `{"at":${at},"of":{"a":[1,2]}}`);
  expect(kindOf(`cat > data.json <<'END'\n[${rows.join(',')}]\nEND`)).toBe('run');
});

test('a loop that forks in its line or the next, and a call that unpacks, are found in code', () => {
  const kind = (code: string) => reviewCode({ language: 'python', code }, NONE).kind;
  expect(kind('import os\nwhile True: os.fork()')).toBe('block');
  expect(kind('import os\nwhile 1:\n\n    os.fork ()')).toBe('block');
  expect(kind('while True: pass; 1\nx = 1\nwhile True:\n  fork()')).toBe('block');
  expect(kind("eval(Buffer.from('6c73', 'hex'))")).toBe('ask');
  expect(kind('print("a \\" b"); run("rm -rf /")')).toBe('block');
});

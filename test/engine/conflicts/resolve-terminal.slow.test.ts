import { execFile, spawn } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { lastUserText, startAnthropicServer } from '../../../src/testing/model/anthropic.ts';

// The model is the one that a test's own .env names.
for (const name of ['MODEL', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAW_TURN_TIMEOUT_MS']) {
  delete process.env[name];
}

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';
const of = (skill: string) =>
  LINES.replace('two', `two of ${skill}`).replace('nine', `nine of ${skill}`);

async function blocked(): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'notes.txt': LINES, 'other.txt': LINES, '.gitignore': '.env\n' },
    { git: true },
  );
  for (const skill of ['a', 'b']) {
    const other = LINES.replace('two', `${skill} here`);
    addSkill(codebase, skill, {
      modify: { 'notes.txt': [LINES, of(skill)], 'other.txt': [LINES, other] },
    });
  }
  codebase.write({ 'skills/b/modify/notes.txt.intent.md': 'Must keep: the letter b.\n' });
  expect((await codebase.claw('apply', 'a', 'b')).code).toBe(3);
  return codebase;
}

const run = promisify(execFile);

/**
 * Waits until a program reads single keys from a terminal: what is typed before that can be lost. Seen twice, since a
 * question that has just been answered still listens for a moment.
 */
async function untilListening(terminal: string): Promise<void> {
  for (let seen = 0; seen < 2; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { stdout } = await run('stty', ['-F', terminal, '-a']);
    seen = stdout.includes('-icanon') ? seen + 1 : 0;
  }
}

/** Types each key once the terminal shows what it answers, and says what was shown at the end. */
async function converse(
  codebase: Codebase,
  { args, columns = 100, editor = 'true' }: { args: string; columns?: number; editor?: string },
  turns: readonly (readonly [awaited: string, typed: string])[],
): Promise<{ code: number | null; screen: string }> {
  const command = `tty; stty cols ${columns} rows 50; ${process.execPath} ${CLAW} ${args} --cwd ${codebase.root}`;
  const [terminal = '', ...given] = ['script', '-qefc', command, '/dev/null'];
  const child = spawn(terminal, given, {
    env: { ...process.env, EDITOR: editor, VISUAL: '', TERM: 'xterm' },
    stdio: 'pipe',
  });
  let screen = '';
  let seen = 0;
  let isTyping = false;
  const waiting = [...turns];
  const look = async (): Promise<void> => {
    const [next] = waiting;
    const at = next ? screen.indexOf(next[0], seen) : -1;
    if (isTyping || next === undefined || at === -1) return;
    isTyping = true;
    waiting.shift();
    seen = at + next[0].length;
    // The question is drawn before it listens. A command that has ended has no terminal.
    await untilListening(screen.slice(0, screen.indexOf('\r'))).catch(() => {});
    child.stdin.write(next[1]);
    isTyping = false;
    await look();
  };
  child.stdout.on('data', (chunk: Buffer) => {
    screen += stripVTControlCharacters(chunk.toString());
    void look();
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  expect(waiting).toEqual([]);
  return { code, screen: screen.replaceAll('\r', '') };
}

test('on a terminal every open conflict is asked about, side by side, and then it goes on', async () => {
  await using codebase = await blocked();
  const { code, screen } = await converse(codebase, { args: 'resolve' }, [
    ['What do you want here? 1 of 2', '3\r'],
    ['What do you want here? 2 of 2', '2\r'],
    ['What do you want here?', '1\r'],
    ['All conflicts are resolved. Run "apply a b" now?', '\r'],
  ]);
  expect(screen).toMatch(/── a ─+┬─── b ─+\n/);
  expect(screen).toMatch(/\n“The skill a” +│ “Must keep: the letter b.”\ntwo of a +│ two of b\n/);
  expect(screen).toContain('Must keep: the letter b.');
  expect(screen).toMatch(/Done: apply of a \S+, b \S+ changed 2 files\./);
  expect(code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(
    of('b').replace('two of b', 'two of a\ntwo of b').replace('nine of a', 'nine of b'),
  );
  expect(codebase.read('other.txt')).toBe(LINES.replace('two', 'a here'));
});

test('a hunk can be edited; what still holds markers is asked for again', async () => {
  await using codebase = await blocked();
  codebase.write({
    'skills/edit.sh': 'if [ -e "$0.once" ]; then echo "by hand" > "$1"; else touch "$0.once"; fi\n',
  });
  const editor = `sh ${codebase.path('skills/edit.sh')}`;
  const { screen } = await converse(codebase, { args: 'resolve other.txt', editor }, [
    ['What do you want here?', 'e\r'],
    ['What do you want here?', 'e\r'],
  ]);
  expect(screen).toContain('still holds conflict markers');
  expect(screen).toContain('Still open: notes.txt.');
  await codebase.claw('resolve', 'notes.txt', '--ours');
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('other.txt')).toBe(LINES.replace('two', 'by hand'));
});

test('a text that is not finished costs none of the choices before it', async () => {
  await using codebase = await blocked();
  codebase.write({
    'skills/edit.sh': 'if [ -e "$0.once" ]; then echo "by hand" > "$1"; else touch "$0.once"; fi\n',
  });
  const editor = `sh ${codebase.path('skills/edit.sh')}`;
  const { screen } = await converse(codebase, { args: 'resolve notes.txt', editor }, [
    ['What do you want here? 1 of 2', '2\r'],
    ['What do you want here? 2 of 2', 'e\r'],
    ['What do you want here? 2 of 2', 'e\r'],
  ]);
  expect(screen).toContain('still holds conflict markers');
  expect(screen).toContain('Still open: other.txt.');
  await codebase.claw('resolve', 'other.txt', '--ours');
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(of('b').replace('nine of b', 'by hand'));
});

test('leaving keeps what is decided, and a finished text is taken if the owner says so', async () => {
  await using codebase = await blocked();
  const { screen } = await converse(codebase, { args: 'resolve', columns: 40 }, [
    ['What do you want here? 1 of 2', 'l\r'],
    ['What do you want here?', '\x03'],
  ]);
  // Too narrow for two columns: one below the other.
  expect(screen).toMatch(
    /── a ─+\n {2}“The skill a”\n {2}two of a\n── b ─+\n {2}“Must keep: the letter b.”\n {2}two of b\n/,
  );
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    open: ['notes.txt', 'other.txt'],
  });
  codebase.write({ '.claw/pending/other.txt': LINES.replace('two', 'finished') });
  const second = await converse(codebase, { args: 'resolve other.txt' }, [
    ['Take the text that you finished in .claw/pending/other.txt?', '\r'],
  ]);
  expect(second.screen).toContain('Still open: notes.txt.');
  await codebase.claw('resolve', 'notes.txt', '--ours');
  await codebase.claw('continue');
  expect(codebase.read('other.txt')).toBe(LINES.replace('two', 'finished'));
});

test('the places of a block that moved are asked about once, where it is chosen with its edit', async () => {
  const block = 'alpha beta\ngamma delta\nepsilon zeta\n';
  const core = `head\n${block}${LINES}tail\n`;
  const edited = block.replace('gamma', 'GAMMA');
  await using codebase = temporaryCodebase({ 'notes.txt': core }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [core, `head\n${LINES}${block}tail\n`] } });
  addSkill(codebase, 'b', { modify: { 'notes.txt': [core, core.replace(block, edited)] } });
  expect((await codebase.claw('apply', 'a', 'b')).code).toBe(3);
  const { code, screen } = await converse(codebase, { args: 'resolve' }, [
    ['What do you want here? 1 of 2', '3\r'],
    ['All conflicts are resolved. Run "apply a b" now?', '\r'],
  ]);
  expect(screen).toContain("b's edit at the block's new place, line 12 (moved)");
  expect(code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(`head\n${LINES}${edited}tail\n`);
});

test('the model can be asked from there, and is taken at the owner’s yes', async () => {
  await using codebase = await blocked();
  const server = await startAnthropicServer((request) => {
    const isFirst = lastUserText(request).includes('hunk 2');
    const hunks = isFirst ? ['two of both\n', 'nine of both\n'] : ['other of both\n'];
    return [{ type: 'text', text: JSON.stringify({ hunks }) }];
  });
  codebase.write({ '.env': `ANTHROPIC_API_KEY=sk-1\nANTHROPIC_BASE_URL=${server.url}\n` });
  const { code, screen } = await converse(codebase, { args: 'resolve' }, [
    ['What do you want here? 1 of 2', 'm\r'],
    ['Take that?', 'n'],
    ['What do you want here? 1 of 2', 'm\r'],
    ['Take that?', '\r'],
    ['What do you want here?', 'm\r'],
    ['Take that?', '\r'],
    ['All conflicts are resolved.', '\r'],
  ]);
  await server.close();
  expect(screen).toContain('+two of both');
  expect(code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(of('both'));
  expect((await codebase.claw('resolutions')).json.data).toMatchObject([
    { origin: 'anthropic/claude-sonnet-5-5' },
    { origin: 'anthropic/claude-sonnet-5-5' },
  ]);
});

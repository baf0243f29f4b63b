import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addSkill, CLAW, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\n';

function withSkill() {
  const codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'demo.txt': 'demo\n' },
    modify: { 'notes.txt': [LINES, LINES.replace('two', 'TWO')] },
  });
  return codebase;
}

test('log lists what undo can take back, newest first, with its skills and files', async () => {
  await using codebase = withSkill();
  expect((await codebase.claw('log')).json).toMatchObject({ outcome: 'nothing', data: [] });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'notes.txt': LINES.replace('two', 'TWO').replace('three', 'mine') });
  await codebase.claw('customize', 'mine');
  const { data } = (await codebase.claw('log')).json;
  expect(data).toMatchObject([
    { verb: 'customize' },
    {
      ...{ verb: 'apply', summary: 'apply demo', skills: ['demo'] },
      files: [
        { path: 'demo.txt', kind: 'add' },
        { path: 'notes.txt', kind: 'modify' },
      ],
    },
  ]);
  await codebase.claw('undo');
  expect((await codebase.claw('log')).json.data).toMatchObject([{ summary: 'apply demo' }]);
  await codebase.claw('undo');
  expect((await codebase.claw('log')).json.data).toEqual([]);
});

test('show tells of a skill before it is in, and afterwards', async () => {
  await using codebase = withSkill();
  const files = [
    { path: 'demo.txt', kind: 'add' },
    { path: 'notes.txt', kind: 'modify' },
  ];
  const before = (await codebase.claw('show', 'demo')).json.data;
  expect(before).toMatchObject({ name: 'demo', applied: null, files });
  await codebase.claw('apply', 'demo');
  expect((await codebase.claw('show', 'demo')).json.data).toMatchObject({
    applied: '1.0.0',
    files,
  });
  expect((await codebase.claw('show', 'demmo')).json.error).toMatchObject({
    code: 'SKILL_NOT_FOUND',
  });
});

test('--dry-run shows the plan and changes nothing, and --quiet says nothing on the way', async () => {
  await using codebase = withSkill();
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'demo', '--dry-run')).json).toMatchObject({ verb: 'plan' });
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('.claw/state.yaml')).toBe(false);
  expect(await codebase.claw('abort', '--dry-run')).toMatchObject({ code: 2 });
  const args = [CLAW, 'apply', 'demo', '-q', '--cwd', codebase.root];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  expect(run.stdout).toMatch(/^Done: apply of demo \S+ changed 2 files\./m);
});

/** The shells whose completion is tried for real, each with what it offers after these words. */
const SHELLS: Readonly<
  Record<string, (words: readonly string[], cwd: string) => readonly string[]>
> = {
  bash(words, cwd) {
    const script = `${CLAW_FUNCTION}
source <(claw completion bash)
COMP_WORDS=(claw ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_claw; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return linesOf(spawnSync('bash', ['-c', script], { encoding: 'utf8', cwd }).stdout);
  },
  fish(words, cwd) {
    const script = `function claw; "${process.execPath}" "${CLAW}" $argv; end
claw completion fish | source
complete -C "claw ${words.join(' ')}"`;
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', cwd });
    // Each with its description.
    return linesOf(stdout).map((line) => line.split('\t')[0] ?? '');
  },
  /** It completes on a terminal only: what it adds to the list is written to a file. */
  zsh(words, cwd) {
    const folder = mkdtempSync(join(tmpdir(), 'claw-zsh-'));
    const out = join(folder, 'offered');
    writeFileSync(
      join(folder, '.zshrc'),
      `PS1= ; ${CLAW_FUNCTION}
source <(claw completion zsh)
compadd() { local -a found; builtin compadd -O found "$@"; print -rl -- $found >> ${out}; builtin compadd "$@"; }
zle-line-init() { BUFFER='claw ${words.join(' ')}'; CURSOR=$#BUFFER; zle complete-word; BUFFER=exit; zle accept-line }
zle -N zle-line-init
`,
    );
    spawnSync('script', ['-qefc', 'zsh -d -i', '/dev/null'], {
      cwd,
      input: '',
      env: { ...process.env, ZDOTDIR: folder, TERM: 'xterm' },
    });
    const offered = existsSync(out) ? linesOf(readFileSync(out, 'utf8')) : [];
    rmSync(folder, { recursive: true });
    return [...new Set(offered)];
  },
};
const CLAW_FUNCTION = `claw() { "${process.execPath}" "${CLAW}" "$@"; }`;

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const COMPLETED: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [['app'], ['apply']],
  [['con'], ['conflicts', 'continue']],
  [['plan', 'upd'], ['update']],
  [['apply', 'de'], ['demo']],
  [['plan', 'apply', 'de'], ['demo']],
  [['update', '--ret'], ['--retire-contained']],
  [['status', '--js'], ['--json']],
];

test.each(Object.keys(SHELLS))(
  '%s completes verbs, options and the names of skills',
  async (shell) => {
    const isThere = spawnSync(shell, ['--version']).status === 0;
    if (!isThere && process.env['CLAW_REQUIRE_ENGINE'] !== '1') return;
    await using codebase = withSkill();
    for (const [words, offered] of COMPLETED) {
      expect(SHELLS[shell]?.(words, codebase.root).toSorted(), words.join(' ')).toEqual(offered);
    }
  },
);

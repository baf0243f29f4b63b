import { spawnSync } from 'node:child_process';
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
  expect(run.stdout).toContain('Done: apply changed 2 files.');
});

test('bash completes verbs, options and the names of skills', async () => {
  await using codebase = withSkill();
  const complete = (words: readonly string[]) => {
    const script = `claw() { "${process.execPath}" "${CLAW}" "$@"; }
source <(claw completion bash)
COMP_WORDS=(claw ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_claw; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const options = { encoding: 'utf8', cwd: codebase.root } as const;
    return spawnSync('bash', ['-c', script], options).stdout.trim().split('\n');
  };
  expect(complete(['app'])).toEqual(['apply']);
  expect(complete(['con'])).toEqual(['conflicts', 'continue']);
  expect(complete(['apply', 'de'])).toEqual(['demo']);
  expect(complete(['plan', 'apply', 'de'])).toEqual(['demo']);
  expect(complete(['update', '--ret'])).toEqual(['--retire-contained']);
  expect(complete(['status', '--js'])).toEqual(['--json']);
  for (const shell of ['zsh', 'fish']) {
    const args = [CLAW, 'completion', shell];
    expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({ status: 0 });
  }
});

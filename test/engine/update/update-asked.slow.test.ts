import { spawn, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  skillFiles,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const isSkipped = spawnSync('script', ['--version']).status !== 0;

function installation(): Codebase {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': 'one\ntwo\nthree\n' },
    { git: true },
  );
  addSkill(codebase, 'demo', { modify: { 'a.txt': ['one\ntwo\nthree\n', 'ONE\ntwo\nthree\n'] } });
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0'), 'a.txt': 'one\ntwo\nTHREE\n', 'new.txt': 'new\n' },
  });
  return codebase;
}

/** Runs claw on a terminal, and answers what it asks. */
async function onTerminal(
  codebase: Codebase,
  args: readonly string[],
  answer: string,
  env: Readonly<Record<string, string>> = {},
) {
  const line = ['stty cols 100;', process.execPath, CLAW, ...args, '--cwd', codebase.root].join(
    ' ',
  );
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  let shown = '';
  let isAsked = false;
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    if (isAsked || !shown.includes('Go on')) return;
    isAsked = true;
    child.stdin.write(answer);
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, isAsked, shown: shown.replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, '') };
}

test
  .skipIf(isSkipped)
  .concurrent(
    'on a terminal an update is shown and asked for before anything happens',
    async () => {
      await using codebase = installation();
      await codebase.claw('apply', 'demo');
      const before = [codebase.tree(), codebase.state()];
      const refused = await onTerminal(codebase, ['update', 'v1.1.0'], 'n');
      expect(refused).toMatchObject({ code: 1, isAsked: true });
      expect(refused.shown).toMatch(
        /Core 1\.0\.0 → 1\.1\.0[\s\S]*demo works on a\.txt[\s\S]*\+ new\.txt[\s\S]*Go on/,
      );
      expect([codebase.tree(), codebase.state()]).toEqual(before);
      const done = await onTerminal(codebase, ['update', 'v1.1.0'], 'y');
      expect(done).toMatchObject({ code: 0, isAsked: true });
      expect(codebase.read('a.txt')).toBe('ONE\ntwo\nTHREE\n');
      // There is nothing to ask about.
      expect(await onTerminal(codebase, ['update', 'v1.1.0'], 'n')).toMatchObject({
        code: 0,
        isAsked: false,
      });
    },
  );

test
  .skipIf(isSkipped)
  .concurrent('nobody is asked with --yes or --json, or about a plan that is blocked', async () => {
    await using codebase = installation();
    await codebase.claw('apply', 'demo');
    for (const option of ['--yes', '--json']) {
      const run = await onTerminal(codebase, ['update', 'v1.1.0', option], 'n');
      expect(run).toMatchObject({ code: 0, isAsked: false });
      expect(codebase.read('a.txt')).toBe('ONE\ntwo\nTHREE\n');
      await codebase.claw('undo');
    }
    codebase.write({ 'a.txt': 'ONE\ntwo\nmine\n' });
    const blocked = await onTerminal(codebase, ['update', 'v1.1.0'], 'n');
    expect(blocked).toMatchObject({ code: 3, isAsked: false });
    expect(blocked.shown).toContain('! a.txt');
  });

test
  .skipIf(isSkipped)
  .concurrent(
    'a first update that is declined leaves nothing, and its plan names commands as npx runs them',
    async () => {
      await using codebase = installation();
      const keep = skillFiles('keep', { core: '1.1.0', add: { 'kept.txt': 'kept\n' } });
      addRelease(codebase, 'v1.2.0', {
        files: {
          'package.json': versioned('1.2.0'),
          'migrations.yaml': '- since: 1.2.0\n  description: goes another way\n  skill: keep\n',
          ...Object.fromEntries(
            Object.entries(keep).map(([path, text]) => [`skills/keep/${path}`, String(text)]),
          ),
        },
      });
      const npx = { npm_lifecycle_event: 'npx' };
      const declined = await onTerminal(codebase, ['update', 'v1.2.0'], 'n', npx);
      expect(declined).toMatchObject({ code: 1, isAsked: true });
      expect(declined.shown).toContain('npx claw remove keep');
      expect(declined.shown).not.toMatch(/(?<!npx )claw remove keep/);
      expect(codebase.has('.claw')).toBe(false);
    },
  );

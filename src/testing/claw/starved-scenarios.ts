import { rmSync } from 'node:fs';
import { addSkill, type Codebase, commitAll } from './codebase.ts';
import type { Scenario } from './starved-command.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\n';

/** Lays out a released project with a skill in it, and another one beside it. */
async function layOutProject(codebase: Codebase): Promise<void> {
  codebase.write({ 'src/a.ts': LINES, 'src/b.ts': LINES, 'src/gone/only.ts': LINES });
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'first');
  codebase.git('tag', 'v1.0.0');
  addSkill(codebase, 'first', {
    add: { 'src/first/new.ts': 'new\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] },
  });
  addSkill(codebase, 'second', {
    add: { 'src/second.ts': 'second\n' },
    modify: { 'src/b.ts': [LINES, LINES.replace('six', 'SIX')] },
    base: { 'src/gone/only.ts': LINES },
    manifest: { file_ops: [{ type: 'delete', path: 'src/gone/only.ts' }] },
  });
  commitAll(codebase, 'skills');
}

async function applyFirst(codebase: Codebase): Promise<void> {
  await layOutProject(codebase);
  await succeed(codebase, 'apply', 'first');
}

async function applyBoth(codebase: Codebase): Promise<void> {
  await applyFirst(codebase);
  await succeed(codebase, 'apply', 'second');
}

/** Makes the next release, which changes lines beside those of the skill, and brings a file. */
async function release(codebase: Codebase): Promise<void> {
  await applyFirst(codebase);
  codebase.git('stash', '--quiet', '--include-untracked');
  codebase.git('checkout', '--quiet', '-b', 'next', 'v1.0.0');
  codebase.write({ 'src/a.ts': LINES.replace('six', 'SIX!'), 'src/c.ts': 'released\n' });
  commitAll(codebase, 'second release');
  codebase.git('tag', 'v2.0.0');
  codebase.git('checkout', '--quiet', 'main');
  codebase.git('stash', 'pop', '--quiet');
}

/** Leaves what a fresh clone has: the release's files, `state.yaml`, and the packages. */
async function cloneApplied(codebase: Codebase): Promise<void> {
  await applyBoth(codebase);
  commitAll(codebase, 'applied');
  const state = codebase.read('.claw/state.yaml');
  codebase.git('checkout', '--quiet', 'v1.0.0', '--', 'src');
  for (const path of ['src/first', 'src/second.ts', '.claw']) {
    rmSync(codebase.path(path), { recursive: true });
  }
  codebase.write({ '.claw/state.yaml': state });
}

/** Commands that between them make every kind of change. */
export const SCENARIOS: readonly Scenario[] = [
  { name: 'first-apply', args: ['apply', 'first'], prepare: layOutProject },
  { name: 'apply', args: ['apply', 'second'], prepare: applyFirst },
  { name: 'remove', args: ['remove', 'second'], prepare: applyBoth },
  { name: 'update', args: ['update', 'v2.0.0'], prepare: release },
  { name: 'undo', args: ['undo'], prepare: applyBoth },
  { name: 'replay', args: ['replay'], prepare: cloneApplied },
];

async function succeed(codebase: Codebase, ...args: string[]): Promise<void> {
  const { code, stdout } = await codebase.claw(...args);
  if (code !== 0) throw new Error(`claw ${args.join(' ')} failed: ${stdout}`);
}

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listBackups } from '../../../store/backup/kept-backups.ts';
import { answers, textsOf } from '../../../testing/assistant.ts';
import { runClaw } from '../../../testing/claw/claw.ts';
import { CODE, cloneOfReleases, manifest, release } from '../../../testing/claw/releases.ts';
import {
  ask,
  hears,
  read,
  skills,
  stopsForRestart,
  write,
} from '../../../testing/owner/owner-chat.ts';
import { clawReader as openReader } from '../../contracts/claw.ts';
import { gitRunner } from '../../contracts/git.ts';
import { newestRelease } from '../release-update.ts';

const CORE_2 = CODE.replace('three = 3', 'three = 33');

test('update finds the newest release of the remote, shows it, and asks before it changes anything', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  const first = await project.start();
  await ask(first, '/update', 'The core is the newest: 1.0.0.');
  release(remote, 'v2.0.0', { 'package.json': manifest('2.0.0'), 'src/a.ts': CORE_2 });
  release(remote, 'v3.0.0-rc.1', { 'package.json': manifest('3.0.0-rc.1') });
  const shown = await ask(first, '/update', 'Say yes or no.');
  expect(shown).toContain('Core 1.0.0 → 2.0.0: 2 files of it changed.');
  expect(shown).toContain('- files: 2 changed (package.json, src/a.ts)');
  await ask(first, 'no', 'The core stays as it is. Say `/update v2.0.0`');
  await ask(first, '/update v2.0.0', 'Say yes or no.');
  write(project, { 'src/a.ts': CODE.replace('one = 1', 'one = 11') });
  const again = await ask(first, 'yes', 'Say yes or no.');
  expect(again).toContain('Something was edited since you were shown this');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  expect(read(project, 'src/a.ts')).toBe(CORE_2.replace('one = 1', 'one = 11'));
  const backups = listBackups(join(project.dir, 'data/backups'));
  expect(backups.map(({ reason }) => reason)).toEqual(['update']);
  const second = await project.start();
  await hears(second, 'The core is 2.0.0 now: 2 files changed. Skills in the code: none.');
  await ask(second, '/update v9', 'v9 is neither a folder nor a ref that git knows here.');
  await ask(second, '/upgrade', 'There is no skill in the code yet');
  release(remote, 'v2.1.0', {
    'package.json': manifest('2.1.0'),
    'skills/b/SKILL.md': '# In other words\n',
    ...skills({ c: { modify: { 'src/a.ts': [CORE_2, CORE_2.replace('= 33', '= 3')] } } }),
  });
  const skillsToo = await ask(second, '/update', 'Say yes or no.');
  expect(skillsToo).toContain('- new skills to add: c\n- changed skill packages: b\n');
  await second.stop();
});

test('a service finds the newest release as the command does, before and after the first change', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  const environment = { PATH: process.env['PATH'], HOME: project.dir };
  const reader = {
    ...{ nodePath: process.execPath, projectDir: project.dir, environment, idleMs: 60_000 },
    readerPath: join(import.meta.dirname, '../../../../bin/claw-reader.js'),
  };
  const clawReader = openReader(reader);
  const git = gitRunner({ projectDir: project.dir, environment });
  const find = () => newestRelease({ git, clawReader });
  expect(await find()).toMatchObject({ kind: 'none' });
  release(remote, 'v2.0.0', { 'package.json': manifest('2.0.0'), 'src/a.ts': CORE_2 });
  expect(await find()).toEqual({ kind: 'found', ref: 'v2.0.0' });
  expect((await runClaw(['--cwd', project.dir, 'init'])).code).toBe(0);
  expect(await find()).toEqual({ kind: 'found', ref: 'v2.0.0' });
  const plan = await clawReader.read(['plan', 'update', 'v2.0.0', '--diff']);
  expect(JSON.stringify(plan.data)).toContain('+export const three = 33;');
  clawReader.close();
});

test('layers that the release contains are asked about before the update is shown', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  const mine = CODE.replace('one = 1', 'one = 11');
  write(project, { 'src/a.ts': mine });
  for (const args of [['init'], ['customize', 'eleven']]) {
    expect((await runClaw(['--cwd', project.dir, ...args])).code).toBe(0);
  }
  release(remote, 'v2.0.0', { 'package.json': manifest('2.0.0'), 'src/a.ts': mine });
  const first = await project.start();
  const asked = await ask(first, '/update', 'Say a number.');
  expect(asked).toContain('- custom-eleven: it would change nothing any more');
  await ask(first, 'give up', 'The core stays as it is. Say `/update v2.0.0` when you want it.');
  await ask(first, '/update', 'Say a number.');
  const kept = await ask(first, 'keep', 'Say yes or no.');
  expect(kept).not.toContain('retires');
  await ask(first, 'no', 'Say `/update v2.0.0 keep custom-eleven` when you want it.');
  await ask(first, '/update', 'Say a number.');
  const retired = await ask(first, '1', 'Say yes or no.');
  expect(retired).toContain('- retires: custom-eleven');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  expect(read(project, 'src/a.ts')).toBe(mine);
  expect(read(project, '.claw/state.yaml')).toContain('layers: []');
});

test('an update that the agent proposes is shown and asked about once', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  expect((await runClaw(['--cwd', project.dir, 'init'])).code).toBe(0);
  release(remote, 'v2.0.0', { 'package.json': manifest('2.0.0'), 'src/a.ts': CORE_2 });
  const first = await project.start({
    agent: async ({ folder }, { onTool }) => {
      const { value } = await onTool({
        name: 'owner_command',
        input: { command: '/update' },
        folder,
      });
      return answers(String(value));
    },
  });
  const shown = await ask(first, 'Is there anything new?', 'Say yes or no.');
  expect(shown).toContain(
    'Andy wants to run `/update`, which changes its own code. Core 1.0.0 → 2.0.0',
  );
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  expect(textsOf(first.terminal).filter((text) => text.includes('Say yes or no'))).toHaveLength(1);
  expect(read(project, 'src/a.ts')).toBe(CORE_2);
});

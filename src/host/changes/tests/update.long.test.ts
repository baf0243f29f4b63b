import { expect, test } from 'vitest';
import { CODE, cloneOfReleases, manifest, release } from '../../../testing/claw/releases.ts';
import {
  ask,
  git,
  hears,
  read,
  skills,
  startModel,
  stopsForRestart,
  write,
} from '../../../testing/owner/owner-chat.ts';

const CORE_3 = CODE.replace('three = 3', 'three = 33').replace('two = 2', 'two = 22');

test('a blocked update and an upgrade go the same way to the owner’s yes', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  await using model = await startModel(() => ({ hunks: ["export const two = 'b22';\n"] }));
  const { environment } = model;
  const first = await project.start({ environment });
  await ask(first, '/add-b', 'Say yes or no.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  release(remote, 'v3.0.0', { 'package.json': manifest('3.0.0'), 'src/a.ts': CORE_3 });
  const second = await project.start({ environment });
  const shown = await ask(second, '/update', 'Say yes, no, or give up.');
  expect(shown).toContain('“update v3.0.0” meets one conflict:\n- `src/a.ts`, core against b');
  expect(shown).toContain("+export const two = 'b22';");
  await ask(second, '/update', '“update v3.0.0” waits for your decision first');
  await ask(second, '/conflicts', 'Say yes, no, or give up.');
  await second.terminal.say('yes');
  await stopsForRestart(project, second);
  const third = await project.start({ environment });
  await hears(third, 'The core is 3.0.0 now: 2 files changed. Skills in the code: b.');
  expect(read(project, 'src/a.ts')).toBe(CORE_3.replace('two = 22', "two = 'b22'"));

  await ask(third, '/upgrade', 'There is no newer version here.');
  write(
    project,
    skills({
      b: {
        version: '1.1.0',
        core: '3.0.0',
        modify: { 'src/a.ts': [CORE_3, CORE_3.replace('= 22', "= 'b2'")] },
      },
    }),
  );
  const upgrade = await ask(third, '/upgrade b', 'Upgrade? Say yes or no.');
  expect(upgrade).toContain('b 1.0.0 → 1.1.0:\n- files: 1 changed (src/a.ts)');
  await third.terminal.say('yes');
  await stopsForRestart(project, third);
  const fourth = await project.start({ environment });
  await hears(fourth, 'Upgraded to b 1.1.0: 1 file changed.');
  expect(read(project, 'src/a.ts')).toContain("two = 'b2'");
  await fourth.stop();
});

test('the source of releases is named, and so is anything that blocks an update', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  const assistant = await project.start();
  await ask(assistant, '/update v1 v2', 'Say `/update` for the newest release');
  await ask(assistant, '/update --force', 'Say `/update` for the newest release');
  release(remote, 'v2.0.0', { 'package.json': manifest('2.0.0') });
  // A tag of that name was made here: it is not replaced in silence.
  git(project.dir, 'tag', 'v2.0.0');
  await ask(assistant, '/update', 'v2.0.0 cannot be fetched from origin');
  git(project.dir, 'tag', '-d', 'v2.0.0');
  git(project.dir, 'remote', 'set-url', 'origin', `${project.dir}/nowhere`);
  await ask(assistant, '/update', 'The releases at origin cannot be read');
  git(project.dir, 'remote', 'remove', 'origin');
  await ask(assistant, '/update', 'This project has no git remote');
  const shown = await ask(assistant, `/update ${remote.dir}`, 'Say yes or no.');
  expect(shown).toContain('Core 1.0.0 → 2.0.0');
  await assistant.stop();
});

test('a file that can run code or configure tools changes only if the owner names it', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  const first = await project.start({ environment: { ANTHROPIC_API_KEY: '' } });
  await ask(first, '/add-b', 'Say yes or no.');
  await first.terminal.say('yes');
  await stopsForRestart(project, first);
  const hook = '.github/workflows/ci.yml';
  release(remote, 'v2.0.0', { 'package.json': manifest('2.0.0'), [hook]: 'on: push\n' });
  const second = await project.start({ environment: { ANTHROPIC_API_KEY: '' } });
  const told = await ask(second, '/update', 'Nothing is changed yet');
  expect(told).toContain(`say \`/update v2.0.0 allow ${hook}\``);
  await ask(second, 'yes', 'There is no key for the model yet.');
  await ask(second, `/update v2.0.0 allow ${hook}`, 'Say yes or no.');
  await ask(second, 'no', 'The core stays as it is.');

  release(remote, 'v3.0.0', { 'package.json': manifest('3.0.0'), 'src/a.ts': CORE_3 });
  // Before any conflict is decided.
  await ask(second, '/update', `say \`/update v3.0.0 allow ${hook}\``);
  await ask(second, `/update v3.0.0 allow ${hook}`, 'Say a number');
  await ask(second, '2', 'Say yes, no, or give up.');
  await second.terminal.say('yes');
  await stopsForRestart(project, second);
  expect(read(project, hook)).toBe('on: push\n');
  expect(read(project, 'src/a.ts')).toContain("two = 'b'");
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Docker from 'dockerode';
import { expect, onTestFinished, test } from 'vitest';
import { shortHash } from '../../sandbox/protocol/socket-folder.ts';
import { openStore } from '../../store/store.ts';
import { examinedProject, HOLD_LOCK, REPOSITORY } from '../../testing/claw/examined-project.ts';
import { describeWithEngine } from '../../testing/engine.ts';

const project = examinedProject();

test('Docker is looked for where the environment says, and nowhere else', async () => {
  const env = { CLAW_SANDBOX: 'docker', DOCKER_HOST: 'unix:///nowhere/docker.sock' };
  const [engine] = await project.found('containers', { env });
  expect(engine).toMatchObject({
    ok: false,
    message: expect.stringContaining('no daemon answers'),
  });
});

await describeWithEngine('bubblewrap', 'the doctor where Docker was lost', () => {
  test('tells what runs agents now, and what they wait for', async () => {
    const store = openStore({ path: join(project.data, 'claw.db'), now: 1 });
    onTestFinished(() => store.close());
    store.engines.note({ kind: 'ready', engine: 'docker', description: 'docker 28.2' });
    const env = { CLAW_SANDBOX: '', DOCKER_HOST: 'unix:///nowhere/docker.sock' };
    const engine = async () => (await project.found('containers', { env }))[0];
    expect(await engine()).toMatchObject({
      ok: false,
      message: expect.stringContaining(
        'Agents ran in docker and do not run in bubblewrap unasked.',
      ),
      advice: expect.stringContaining('/sandbox bubblewrap'),
    });
    const holder = spawn(process.execPath, ['-e', HOLD_LOCK, REPOSITORY, project.data]);
    onTestFinished(() => void holder.kill());
    await once(holder.stdout, 'data');
    expect(await engine()).toMatchObject({
      ok: false,
      message: 'Agents run in docker, and no daemon answers.',
    });
    store.engines.note({ kind: 'unavailable', advice: 'Say which.' });
    expect(await engine()).toMatchObject({ ok: false, advice: 'Say which.' });
    store.engines.note({ kind: 'ready', engine: 'bubblewrap', description: 'bubblewrap 0.8.0' });
    store.engines.accept('bubblewrap');
    expect((await engine())?.message).toBe('agents run in bubblewrap 0.8.0');
  });
});

await describeWithEngine('docker', 'the doctor with Docker', () => {
  test('names engine, image, and what a killed assistant left', async () => {
    const env = { CLAW_SANDBOX: 'docker' };
    const [engine, none] = await project.found('containers', { env });
    expect(engine?.message).toMatch(/^agents run in docker \d/);
    expect(none).toBe(undefined);
    expect(await project.found('image', { env })).toMatchObject([{ ok: true }]);
    const docker = new Docker();
    const [image] = await docker.listImages({ filters: { reference: ['patchclaw-base'] } });
    const container = await docker.createContainer({
      Image: image?.Id ?? 'node:24-slim',
      Cmd: ['true'],
      Labels: { 'patchclaw.instance': shortHash(project.data) },
    });
    onTestFinished(() => container.remove({ force: true }).catch(() => {}));
    expect(await project.found('containers', { env })).toMatchObject([
      { ok: true },
      {
        message: '1 container is left of an assistant that was killed',
        advice: expect.stringContaining(`docker rm -f ${container.id.slice(0, 12)}`),
      },
    ]);
  });
});

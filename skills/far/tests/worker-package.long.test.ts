// The worker without a checkout: one file, as a program, a container and a service.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { makeWorkerPackage } from '../../../src/lib/far/worker-package.ts';
import { workerUnit } from '../../../src/lib/far/worker-unit.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { farHome, OFTEN } from './far-home.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
const run = (program: string, ...words: string[]) =>
  execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** As npm unpacks it: below `node_modules`, where no Node reads TypeScript. */
async function unpacked(dir: string): Promise<string> {
  const file = join(dir, 'patchclaw-worker.tgz');
  await makeWorkerPackage(PROJECT, file);
  const own = join(dir, 'node_modules/patchclaw-worker');
  mkdirSync(own, { recursive: true });
  run('tar', '-xzf', file, '-C', own, '--strip-components=1');
  return own;
}

test('a worker in a swarm publishes no port, and has its folder at one path inside and outside', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-far-stack-'));
  try {
    const text = readFileSync(join(await unpacked(dir), 'stack.yaml'), 'utf8');
    const { worker } = parse(text).services;
    expect(Object.keys(worker)).not.toContain('ports');
    expect(worker.volumes).toContain('/var/lib/patchclaw-worker:/var/lib/patchclaw-worker');
    expect(readFileSync(join(dir, 'node_modules/patchclaw-worker/Dockerfile'), 'utf8')).toContain(
      'PATCHCLAW_WORKER_DIR=/var/lib/patchclaw-worker ',
    );
    // Two nodes with one key would both start what the home asks for.
    expect(worker.deploy.mode).toBe('global');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

await describeWithEngine('bubblewrap', 'a machine without a checkout', () => {
  test('joins by the packed program and runs a chat, also one with many files', async () => {
    await using home = await farHome();
    const dir = mkdtempSync(join(tmpdir(), 'claw-far-packed-'));
    const program = join(await unpacked(dir), 'worker.mjs');
    // The list of its files is longer than what a thread reads beside its other work.
    const many = join(home.project.dir, 'groups/family/many');
    mkdirSync(many);
    for (let index = 0; index < 3_000; index += 1) {
      writeFileSync(join(many, `a-name-of-some-length-${index}`), `${index}\n`);
    }
    await home.ready();
    const env = {
      PATH: process.env['PATH'],
      CLAW_SANDBOX: 'bubblewrap',
      PATCHCLAW_WORKER_DIR: join(dir, 'data'),
    };
    const words = ['join', home.code('nas'), '--has', 'gpu', '--slots', '2'];
    const worker = spawn(process.execPath, [program, ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env,
    });
    try {
      await vi.waitFor(() => expect(home.stateOf('nas')).toBe('here'), OFTEN);
      const answer = await home.project.answer('shell: ls many | wc -l; echo far > where');
      expect(answer).toBe('3000\n[exit code 0]');
      expect(readFileSync(join(home.project.dir, 'groups/family/where'), 'utf8')).toBe('far\n');
    } finally {
      worker.kill('SIGTERM');
      if (worker.exitCode === null) await once(worker, 'exit');
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test('starts by the command that the page and `/far add` name', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'claw-far-npx-'));
    const file = join(dir, 'patchclaw-worker.tgz');
    await makeWorkerPackage(PROJECT, file);
    try {
      const command = 'npx --yes -p "$PWD/patchclaw-worker.tgz" patchclaw-worker join none';
      const { status, stderr } = spawnSync('sh', ['-c', command], {
        cwd: dir,
        encoding: 'utf8',
        env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: dir },
      });
      expect([status, stderr]).toEqual([1, expect.stringContaining('That is no code.')]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test.runIf(existsSync('/usr/bin/systemd-analyze'))(
    'runs as a service of systemd, whatever its paths hold',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'claw far $HOME %h "'));
      try {
        for (const isSystem of [true, false]) {
          const unit = join(dir, 'patchclaw-worker.service');
          const text = workerUnit({
            node: process.execPath,
            command: [join(dir, 'worker.mjs'), 'run'],
            searchPath: '/usr/bin:/bin:/x/node_modules/.bin',
            isSystem,
            environment: {},
          });
          writeFileSync(unit, text);
          expect(text).toContain('Environment="PATH=/usr/bin:/bin"');
          const plain = join(tmpdir(), `patchclaw-worker-${process.pid}.service`);
          writeFileSync(plain, text);
          // It says nothing about a unit that it has no word against.
          const said = run('bash', '-c', `systemd-analyze verify ${plain} 2>&1`);
          rmSync(plain);
          expect(said.split('\n').filter((line) => line.includes('patchclaw-worker'))).toEqual([]);
        }
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    },
  );
});

await describeWithEngine('docker', 'a worker in a container', () => {
  test('starts agents beside itself, and leaves none behind', async () => {
    await using home = await farHome();
    // Not below the system's temporary folder, which the daemon may not share.
    const dir = mkdtempSync('/tmp/claw-far-contained-');
    const image = `patchclaw-worker-test:${process.pid}`;
    const name = `patchclaw-worker-test-${process.pid}`;
    try {
      const own = await unpacked(dir);
      const bases = ['patchclaw-base:bookworm', 'node:24-slim'];
      const base = bases.find((one) => run('docker', 'images', '-q', one) !== '') ?? '';
      run('docker', 'build', '-q', '--build-arg', `BASE=${base}`, '-t', image, own);
      const compose = readFileSync(join(own, 'compose.yaml'), 'utf8');
      expect(compose).toContain('/var/lib/patchclaw-worker:/var/lib/patchclaw-worker');
      await home.ready();
      run(
        'docker',
        ...['run', '--detach', '--name', name, '--network', 'host'],
        ...['-v', '/var/run/docker.sock:/var/run/docker.sock', '-v', `${dir}/data:${dir}/data`],
        ...['-e', `PATCHCLAW_WORKER_DIR=${dir}/data`],
        ...[image, 'join', home.code('nas')],
      );
      await vi.waitFor(() => expect(home.stateOf('nas')).toBe('here'), OFTEN);
      const answer = await home.project.answer('shell: grep -c : /proc/net/dev; echo far > where');
      expect(answer).toMatch(/^1\n/);
      expect(readFileSync(join(home.project.dir, 'groups/family/where'), 'utf8')).toBe('far\n');
      run('docker', 'stop', '--time', '60', name);
      expect(run('docker', 'logs', name)).toContain('ends 1 containers');
      expect(run('docker', 'ps', '-q', '--filter', `volume=${dir}`)).toBe('');
    } finally {
      run('bash', '-c', `docker rm -f ${name} >/dev/null; docker rmi -f ${image} >/dev/null`);
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

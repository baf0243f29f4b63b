// A NATS server that the owner runs, with other accounts in it; the home only gives it a file of keys.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { examination } from '../../../src/doctor/far.ts';
import { enrol } from '../../../src/lib/far/enrol.ts';
import { connectFar } from '../../../src/lib/far/far-connection.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { joinCode } from '../../../src/lib/far/join-code.ts';
import { checkServer } from '../../../src/lib/far/server-check.ts';
import { writeWorkerConfig } from '../../../src/lib/far/worker-folder.ts';
import { openFarHome } from '../../../src/sandbox/machines/far/home.ts';
import { freePort } from '../../../src/testing/free-port.ts';
import { OFTEN } from './far-home.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const canRun = (program: string): boolean =>
  spawnSync(program, ['version'], { env: { PATH }, stdio: 'ignore' }).error === undefined;
const hasPrograms =
  process.env['CLAW_REQUIRE_ENGINE'] === '1' || ['nats-server', 'openssl'].every(canRun);

// Whoever adds the skill may install them afterwards.
describe.skipIf(!hasPrograms)('a server of the owner’s own (needs nats-server and openssl)', () => {
  test('a server of the owner’s own lets machines in by a file, and out; both ends are examined', async () => {
    await using server = await ownServer();
    const { state, dataDir } = server;
    expect(await checkServer(state)).toMatchObject({
      kind: 'unusable',
      problem: 'it does not know this home',
    });
    expect(await state.apply()).toBeNull();
    await vi.waitFor(
      async () =>
        expect(await checkServer(state)).toMatchObject({ kind: 'usable', hasJetStream: true }),
      OFTEN,
    );
    const lines: string[] = [];
    const home = await openFarHome({
      dataDir,
      patienceMs: 60_000,
      now: Date.now,
      elapsed: Date.now,
      onProgress: (line: string) => void lines.push(line),
      onFilesLeft: () => {},
      openEngine: () => ({ resume: () => {}, close: () => {} }) as never,
    } as never);
    try {
      const code = joinCode.read(state.add('nas', Date.now()));
      if (code === null) throw new Error('no code');
      // The home gives the server its file at its next tick; until then the code is not known there.
      const seed = await enrol(code);
      expect(state.read().machines.map(({ name }) => name)).toEqual(['nas']);
      const worker = mkdtempSync(join(tmpdir(), 'claw-far-own-worker-'));
      const config = { ...code, seed, abilities: [], capacity: 1, patienceMinutes: 1 };
      writeWorkerConfig(worker, config);
      const examine = async (dir: string) =>
        (await examination.examine({ dataDir: dir, isOffline: false, now: Date.now } as never)).map(
          ({ message }) => message,
        );
      expect(await examine(worker)).toEqual([expect.stringContaining('lets it in')]);
      expect(await examine(dataDir)).toEqual([
        expect.stringMatching(/^nats-server 2.*your own server.*machines: nas$/),
      ]);
      const refused = Promise.withResolvers<string>();
      const usual = { waitsForServer: false, onUp: () => {}, onRefused: refused.resolve };
      const machine = await connectFar({ ...code, seed, ...usual });
      expect(state.remove('nas')).toBe(true);
      await refused.promise;
      await machine.close();
      await expect(connectFar({ ...code, seed, ...usual })).rejects.toThrow(/authorization/i);
      expect(await examine(worker)).toEqual([expect.stringContaining('cannot be reached')]);
      expect(lines.filter((line) => line.includes('not told'))).toEqual([]);
      rmSync(worker, { recursive: true, force: true });
    } finally {
      await home?.close();
    }
  });

  test('each thing that is wrong with a server of the owner’s own is named', async () => {
    await using server = await ownServer('max_payload: 65536');
    const { state, port, certificate } = server;
    expect(await state.apply()).toBeNull();
    await vi.waitFor(
      async () =>
        expect(await checkServer(state)).toMatchObject({
          problem: expect.stringContaining('65536'),
        }),
      OFTEN,
    );
    const set = (over: object) =>
      state.setUpOwnServer({
        host: '127.0.0.1',
        port,
        authority: certificate,
        apply: 'true',
        ...over,
      });
    set({ authority: '' });
    expect(await checkServer(state)).toMatchObject({
      problem: expect.stringContaining('not trusted'),
      advice: expect.stringContaining('--ca'),
    });
    set({ port: await freePort() });
    expect(await checkServer(state)).toMatchObject({
      problem: expect.stringContaining('cannot be reached'),
    });
    set({ apply: 'echo no such host >&2; exit 1' });
    expect(await state.apply()).toBe('no such host');
    expect(() => set({ authority: 'none' })).toThrow('one certificate');
  });

  test('a server without TLS is refused', async () => {
    await using plain = await ownServer('', { hasTls: false });
    expect(await plain.state.apply()).toBeNull();
    expect(await checkServer(plain.state)).toMatchObject({
      kind: 'unusable',
      problem: expect.stringContaining('speaks no TLS'),
    });
  });
});

/** A running server with its own settings, which include the file of keys that the command brings. */
async function ownServer(more = '', { hasTls = true } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-far-own-'));
  const dir = mkdtempSync(join(tmpdir(), 'claw-far-nats-'));
  const port = await freePort();
  const config = join(dir, 'nats.conf');
  const [key, pem] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  // In a proof, nothing of the machine's own settings can be read.
  writeFileSync(join(dir, 'openssl.cnf'), '[req]\ndistinguished_name = name\n[name]\n');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-config', 'openssl.cnf', '-keyout', 'key.pem', '-out', 'cert.pem'],
      ...['-subj', '/CN=own', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ],
    { cwd: dir, stdio: 'ignore' },
  );
  writeFileSync(join(dir, 'far.conf'), 'users: []\n');
  writeFileSync(
    config,
    `listen: "127.0.0.1:${port}"
pid_file: "${dir}/pid"
${hasTls ? `tls { cert_file: "${pem}", key_file: "${key}" }` : ''}
jetstream { store_dir: "${dir}/jetstream" }
${more}
accounts {
  OTHERS { users: [{ user: other, password: other }] }
  PATCHCLAW { include "far.conf" }
}
`,
  );
  const server = spawn('nats-server', ['-c', config], { env: { PATH }, stdio: 'ignore' });
  await vi.waitFor(() => readFileSync(join(dir, 'pid')), OFTEN);
  const certificate = readFileSync(pem, 'utf8');
  const state = new FarState(dataDir);
  state.setUpOwnServer({
    host: '127.0.0.1',
    port,
    authority: certificate,
    apply: `cp "$1" '${dir}/far.conf' && kill -HUP $(cat '${dir}/pid')`,
  });
  return {
    state,
    dataDir,
    port,
    certificate,
    async [Symbol.asyncDispose]() {
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
      for (const one of [dir, dataDir]) rmSync(one, { recursive: true, force: true });
    },
  };
}

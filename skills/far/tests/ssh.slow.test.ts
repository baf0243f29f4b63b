// A second machine by one command, over a real sshd.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { createUser } from '@nats-io/nkeys';
import { afterEach, expect, test, vi } from 'vitest';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { type SshMachineParts, setUpBySsh } from '../../../src/lib/far/ssh-machine.ts';
import type { SetupRequest } from '../../../src/lib/far/ssh-messages.ts';
import { makeWorkerPackage } from '../../../src/lib/far/worker-package.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { freePort } from '../../../src/testing/free-port.ts';
import type { VerbCall } from '../../../src/verb.ts';
import { verb } from '../../../src/verbs/far.ts';
import { type FarHome, farHome, OFTEN } from './far-home.ts';
import { noSshd, type SshServer, sshServer } from './ssh-server.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');

afterEach(() => void vi.unstubAllEnvs());

type Added = { readonly lines: readonly string[]; readonly progress: readonly string[] };

/** Runs `claw far add`, and takes the key at home as the assistant does. */
async function add(
  dataDir: string,
  server: SshServer,
  options: Readonly<Record<string, unknown>> = {},
  onProgress: (text: string, stop: () => void) => void = () => {},
): Promise<Added> {
  vi.stubEnv('PATH', `${server.bin}:${process.env['PATH']}`);
  const opened = verb.open({}, { projectDir: PROJECT, dataDir, now: Date.now });
  if (opened.kind !== 'made' || opened.value === null) throw new Error('no verb');
  const ended = new AbortController();
  const progress: string[] = [];
  const call: VerbCall = {
    words: ['add', 'nas'],
    options: { ssh: server.target, ...options },
    ...{ isJson: false, columns: null, signal: ended.signal },
    ...{ stdin: new PassThrough(), stdout: new PassThrough() },
    isAssistantRunning: async () => true,
    async say(text) {
      const [, , name = '', key = ''] = text.split(' ');
      new FarState(dataDir).admit(name, key);
      return [`${name} may join`];
    },
    confirm: async () => true,
    consent: async () => 'yes',
    progress(text) {
      progress.push(text);
      onProgress(text, () => ended.abort());
    },
  };
  const { lines = [] } = await opened.value(call);
  return { lines, progress };
}

const problemOf = (adding: Promise<unknown>): Promise<string> =>
  adding.then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  );

const programsOf = (server: SshServer) =>
  join(server.home, '.local/share/patchclaw-worker/programs');

const dataDirOf = (home: FarHome) => join(home.state.dir, '..');

await describeWithEngine('bubblewrap', 'a machine that is set up by ssh', () => {
  test.skipIf(noSshd !== null)(
    `runs chats after one command; again it is left alone, and a newer worker takes its place${noSshd === null ? '' : ` (${noSshd})`}`,
    async () => {
      await using server = await sshServer();
      await using home = await farHome();
      await home.ready();
      const dataDir = dataDirOf(home);
      const first = await add(dataDir, server, { has: 'gpu', slots: '3' });
      expect(first.progress.join('\n')).toMatch(
        /sends the worker[\s\S]*agents will run in bubblewrap/,
      );
      await vi.waitFor(() => expect(home.stateOf('nas')).toBe('here'), OFTEN);
      expect(await home.project.answer('shell: echo far > where')).toBe('[exit code 0]');
      expect(readFileSync(join(home.project.dir, 'groups/family/where'), 'utf8')).toBe('far\n');
      const pid = server.workerPid();
      const known = home.state.read().machines;
      expect(known).toHaveLength(1);
      // Its key is written nowhere but there.
      const config = readFileSync(
        join(server.home, '.local/share/patchclaw-worker/far-worker/worker.json'),
        'utf8',
      );
      const { seed, abilities, capacity } = JSON.parse(config);
      expect([abilities, capacity]).toEqual([['gpu'], 3]);
      expect(JSON.stringify(first)).not.toContain(seed);
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(seed);

      const again = await add(dataDir, server);
      expect(again.progress).toEqual(
        expect.arrayContaining(['it has this worker already', 'it runs already']),
      );
      expect([server.workerPid(), home.state.read().machines]).toEqual([pid, known]);

      // Another file with the same contents is a newer worker.
      await setUp(home, server, { program: Buffer.concat([await packedWorker(), gzipSync('')]) });
      expect(server.workerPid()).not.toBe(pid);
      await vi.waitFor(() => expect(home.stateOf('nas')).toBe('here'), OFTEN);
      expect(readdirSync(programsOf(server))).toHaveLength(3);
      expect(await home.project.answer('shell: cat where')).toContain('far');
    },
  );

  test.skipIf(noSshd !== null)('says what is wrong, and changes nothing at home', async () => {
    await using server = await sshServer();
    await using home = await farHome();
    await home.ready();
    const program = await packedWorker();
    const fails = (over: Partial<SshMachineParts> = {}) =>
      problemOf(setUp(home, server, { program, ...over }));

    vi.stubEnv('PATH', server.noNode);
    expect(await fails()).toContain('ssh is not installed on this machine');
    vi.unstubAllEnvs();
    server.forgetHostKey();
    expect(await fails()).toMatch(/host key verification failed.*compare the key/i);
    server.forgetHostKey(true);
    expect(await fails()).toContain('Its host key is another one than before');
    server.authorize(false);
    expect(await fails()).toMatch(/Permission denied.*The login was refused/);
    server.authorize(true);
    await server.environment({ PATH: server.noNode, SHELL: '/bin/false' });
    expect(await fails()).toContain('nas has no Node. Install Node 22.12 or newer there');
    await server.environment({ PATH: server.oldNode });
    expect(await fails()).toContain('Node there is 20.1.0');
    await server.environment({ CLAW_SANDBOX: 'docker', DOCKER_HOST: 'unix:///none/docker.sock' });
    expect(await fails()).toContain('Nothing there can run agents. Install Docker');
    await server.environment({});
    const closed = await freePort();
    const request = { ...requestOf(home), port: closed };
    expect(await fails({ request })).toContain(
      `nas does not reach this home at 127.0.0.1:${closed}`,
    );
    expect(home.state.read().machines).toEqual([]);
    home.state.admit('nas', createUser().getPublicKey());
    expect(await fails()).toContain('nas has joined already');
    await server.stop();
    expect(await fails()).toMatch(/Connection refused.*does its ssh server run/);
    expect(server.workerPid()).toBe(null);
  });

  test.skipIf(noSshd !== null)(
    'is finished by the same command, wherever the connection was cut',
    async () => {
      await using server = await sshServer();
      await using home = await farHome();
      await home.ready();
      const program = await packedWorker();
      const keys = new Set<string>();
      const cuts = [
        'has Node',
        'sends',
        'agents will run',
        'reaches',
        'key',
        'taken',
        'lets it in',
      ];
      for (const cut of cuts) {
        const ended = new AbortController();
        const stopAt = (text: string) => text.includes(cut) && ended.abort();
        const problem = await problemOf(
          setUp(home, server, {
            ...{ program, signal: ended.signal },
            onProgress: stopAt,
            async admit(key) {
              keys.add(key);
              stopAt('key');
              if (!ended.signal.aborted) home.state.admit('nas', key);
              stopAt('taken');
            },
          }),
        );
        expect([cut, problem]).toEqual([
          cut,
          expect.stringContaining('Run the same command again'),
        ]);
        expect(home.state.read().machines.length).toBeLessThanOrEqual(1);
      }
      await setUp(home, server, { program });
      await vi.waitFor(() => expect(home.stateOf('nas')).toBe('here'), OFTEN);
      expect(home.state.read().machines.map(({ key }) => key)).toEqual([...keys]);
      const left = readdirSync(programsOf(server)).filter((name) => name.startsWith('new-'));
      expect(left).toEqual([]);
    },
  );
});

function requestOf({ state }: FarHome): SetupRequest {
  const { host, port } = state.read();
  const certificate = state.certificate();
  return { name: 'nas', host, port, certificate, abilities: null, slots: null };
}

/** As `claw far add --ssh` does, with a program that is packed already. */
function setUp(
  home: FarHome,
  server: SshServer,
  over: Partial<SshMachineParts> & Pick<SshMachineParts, 'program'>,
): Promise<readonly string[]> {
  if (process.env['PATH'] !== server.noNode) {
    vi.stubEnv('PATH', `${server.bin}:${process.env['PATH']}`);
  }
  return setUpBySsh({
    target: server.target,
    request: requestOf(home),
    admit: async (key) => home.state.admit('nas', key),
    onProgress: () => {},
    signal: new AbortController().signal,
    ...over,
  });
}

async function packedWorker(): Promise<Buffer> {
  const dir = mkdtempSync(join(tmpdir(), 'claw-far-packed-'));
  const file = join(dir, 'worker.tgz');
  await makeWorkerPackage(PROJECT, file);
  const bytes = readFileSync(file);
  rmSync(dir, { recursive: true });
  return bytes;
}

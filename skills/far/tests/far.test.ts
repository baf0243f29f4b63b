import { execFileSync, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUser } from '@nats-io/nkeys';
import { expect, test, vi } from 'vitest';
import { enrol } from '../../../src/lib/far/enrol.ts';
import { connectFar } from '../../../src/lib/far/far-connection.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { joinCode } from '../../../src/lib/far/join-code.ts';
import { workerEngines } from '../../../src/lib/far/worker-folder.ts';
import { endMessage } from '../../../src/sandbox/far/resumable-link.ts';
import { runNatsServer } from '../../../src/sandbox/machines/far/nats-server.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { freePort } from '../../../src/testing/free-port.ts';
import { farHome, OFTEN } from './far-home.ts';

await describeWithEngine('bubblewrap', 'another machine, over a real NATS server', () => {
  test('joins with a code, runs a chat without a network, and listens on nothing', async () => {
    await using home = await farHome();
    await using nas = await home.join('nas');
    const text = await home.project.answer('shell: grep -c : /proc/net/dev; echo far > where');
    expect(text).toMatch(/^1\n/);
    expect(readFileSync(join(home.project.dir, 'groups/family/where'), 'utf8')).toBe('far\n');
    expect(readdirSync(join(nas.dataDir, 'far-worker/chats'))).toEqual(['family']);
    expect(listening()).not.toContain(`pid=${nas.process.pid},`);
    expect(home.project.sandbox.machines?.list()).toMatchObject([
      { name: 'nas', state: 'here', abilities: ['gpu'], capacity: 2 },
    ]);
  });

  test('a machine whose Docker is gone waits for the owner’s word before it uses bubblewrap, once', async () => {
    await using home = await farHome();
    await using nas = await home.join('nas');
    const end = async () => {
      const ended = once(nas.process, 'exit');
      nas.process.kill('SIGTERM');
      await ended;
      await vi.waitFor(() => expect(home.stateOf('nas')).toBe('away'), OFTEN);
    };
    const run = (...words: string[]) =>
      spawn(process.execPath, [join(import.meta.dirname, 'engine-process.ts'), ...words], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {
          PATH: process.env['PATH'],
          PATCHCLAW_WORKER_DIR: nas.dataDir,
          DOCKER_HOST: 'unix:///none/docker.sock',
        },
      });
    const waits = () =>
      vi.waitFor(() => {
        expect(home.descriptionOf('nas')).toContain('say `/far sandbox nas bubblewrap` (docker: ');
        expect(home.stateOf('nas')).toBe('away');
      }, OFTEN);
    const isHere = () => vi.waitFor(() => expect(home.stateOf('nas')).toBe('here'), OFTEN);
    const where = async () => {
      await home.project.answer('shell: echo $PPID > where');
      return nas.fileOf('family', 'where') === null ? 'home' : 'nas';
    };

    await end();
    workerEngines(nas.dataDir).note('docker');
    nas.process = run('run');
    await waits();
    expect(await home.project.answer('shell: echo home')).toContain('home');
    expect(readdirSync(join(nas.dataDir, 'far-worker/chats'))).toEqual([]);
    home.state.letUse('nas', 'bubblewrap');
    await isHere();
    expect(await where()).toBe('nas');
    // The word was for this time; what was accepted stays there.
    await vi.waitFor(() => expect(home.state.read().machines[0]?.mayUse).toBeNull(), OFTEN);
    await end();
    nas.process = run('run');
    await isHere();

    // It is taken back at the machine itself, and given there.
    await end();
    await once(run('sandbox', 'docker'), 'exit');
    nas.process = run('run');
    await waits();
    await once(run('sandbox', 'bubblewrap'), 'exit');
    await isHere();
  });

  test('a machine may be years behind: the certificate is known by the code, and no clock refuses it', async () => {
    await using home = await farHome();
    const code = joinCode.read(home.code('nas'));
    const { validFromDate, validToDate } = new X509Certificate(code?.certificate ?? '');
    expect(validFromDate.getUTCFullYear()).toBe(2020);
    expect(validToDate.getUTCFullYear()).toBe(2049);
    await home.ready();
    expect(readdirSync(home.state.dir).toSorted()).toEqual(
      ['far.json', 'jetstream', 'nats.conf', 'nats.pid', 'server.key', 'server.pem'].toSorted(),
    );
  });

  test('a code lets one machine in, once, and a made-up one lets nobody in', async () => {
    await using home = await farHome();
    await home.ready();
    const text = home.state.add('nas', Date.now());
    const code = joinCode.read(text);
    if (code === null) throw new Error('no code');
    const seed = await enrol(code);
    expect(joinCode.publicKeyOf(seed)).toBe(
      new FarState(home.project.dataDir).read().machines[0]?.key,
    );
    await expect(enrol(code)).rejects.toThrow('a code is good once');
    const forged = new TextDecoder().decode(createUser().getSeed());
    await expect(enrol({ ...code, seed: forged })).rejects.toThrow('does not take this code');
    expect(() => home.state.add('nas', Date.now())).toThrow('has joined already');
    expect(joinCode.read(text.slice(0, -9))).toBeNull();
  });

  test('a machine joins that its home has taken in, although the server ended its code before the home could say so', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'claw-far-unsaid-'));
    const state = new FarState(dataDir);
    await state.setUp('127.0.0.1', await freePort());
    const server = await runNatsServer(state, () => {});
    try {
      const home = await connectFar({ ...state.address(), waitsForServer: true, onUp() {} });
      home.subscribe('far.enrol.*', (_, key) => {
        state.enrol('nas', key.toString(), Date.now());
        state.reload();
      });
      const code = joinCode.read(state.add('nas', Date.now()));
      if (code === null) throw new Error('no code');
      await home.flush();
      const seed = await enrol(code);
      expect(joinCode.publicKeyOf(seed)).toBe(state.read().machines[0]?.key);
      await home.close();
    } finally {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('the link is cut, then silent, in the middle of turns: each is answered once', async () => {
    await using home = await farHome();
    await using _ = await home.join('nas');
    const { project } = home;
    await project.answer('hello');
    for (const [index, how] of (['cut', 'silent'] as const).entries()) {
      const before = project.server.requests.length;
      const asked = project.turn(`shell: echo ${how} >> count; sleep 1; tail -n1 count`);
      await vi.waitFor(() => expect(project.server.requests).toHaveLength(before + 1), OFTEN);
      home.proxy[how]();
      await sleep(4_000);
      home.proxy.heal();
      expect(await asked).toMatchObject({ kind: 'answered', text: `${how}\n[exit code 0]` });
      expect(project.server.requests).toHaveLength(before + 2);
      const count = readFileSync(join(project.dir, 'groups/family/count'), 'utf8');
      expect(count.trim().split('\n')).toHaveLength(index + 1);
    }
    expect(home.places.fences).toEqual([1]);
  });

  test('the server is killed in the middle of a turn: it comes back, and the turn is answered once', async () => {
    await using home = await farHome();
    await using _ = await home.join('nas');
    const { project } = home;
    await project.answer('hello');
    const asked = project.turn('shell: echo once >> count; sleep 1; cat count');
    await vi.waitFor(() => expect(project.server.requests).toHaveLength(2), OFTEN);
    const pid = home.state.serverPid();
    if (pid === null) throw new Error('no server');
    process.kill(pid, 'SIGKILL');
    expect(await asked).toMatchObject({ kind: 'answered', text: 'once\n[exit code 0]' });
    expect(home.state.serverPid()).not.toBe(pid);
    expect(project.server.requests).toHaveLength(3);
  });

  test('a worker that is stopped in the middle of a turn says so: the turn runs again at once, and not there', async () => {
    // Time does not pass from when the machine is here, so nothing else can tell that it is away.
    const now = Date.now.bind(Date);
    let stopped: number | null = null;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => stopped ?? now());
    try {
      await using home = await farHome();
      await using nas = await home.join('nas');
      const { project } = home;
      await project.answer('hello');
      const asked = project.turn('shell: echo once >> count; sleep 600');
      await vi.waitFor(() => expect(nas.fileOf('family', 'count')).toBe('once\n'), OFTEN);
      stopped = now();
      nas.process.kill('SIGTERM');
      expect(await asked).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
      expect(home.stateOf('nas')).toBe('away');
    } finally {
      clock.mockRestore();
    }
  });

  test('a worker hears late that its home is another process: it ends what that one does not know, and nothing else', async () => {
    await using home = await farHome();
    await using nas = await home.join('nas');
    const { project } = home;
    await project.answer('hello');
    const asked = project.turn('shell: echo once >> count; sleep 2; cat count');
    await vi.waitFor(() => expect(nas.fileOf('family', 'count')).toBe('once\n'), OFTEN);
    const { port, homeSeed: seed } = home.state.read();
    const certificate = home.state.certificate();
    const at = { host: '127.0.0.1', port, certificate, seed, waitsForServer: false } as const;
    const same = await connectFar({ ...at, onUp() {}, onRefused() {} });
    same.publish('far.down.nas.home', 'another process');
    await same.flush();
    await same.close();
    expect(await asked).toMatchObject({ kind: 'answered', text: 'once\n[exit code 0]' });
    expect(home.places.fences).toEqual([1]);
  });

  test('a server that outlived its assistant is replaced, also one of an earlier setup; another program with its number is left alone', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'claw-far-left-'));
    const state = new FarState(dataDir);
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    const bystander = spawn('sleep', ['600']);
    try {
      await state.setUp('127.0.0.1', await freePort());
      // As an assistant leaves it that is killed.
      const left = spawn('/usr/bin/env', ['nats-server', '-c', state.configPath], {
        env: { PATH: '/usr/sbin:/usr/local/sbin:/usr/bin:/bin' },
        stdio: 'ignore',
      });
      writeFileSync(state.pidPath, String(left.pid));
      await vi.waitFor(() => expect(state.serverPid()).toBe(left.pid), OFTEN);
      await state.setUp('127.0.0.1', await freePort());
      const gone = once(left, 'exit');
      const server = await runNatsServer(state, say);
      await gone;
      await vi.waitFor(() => expect(state.serverPid()).toEqual(expect.any(Number)), OFTEN);
      expect(state.serverPid()).not.toBe(left.pid);
      await server.stop();
      writeFileSync(join(state.dir, 'nats.pid'), String(bystander.pid));
      const second = await runNatsServer(state, say);
      await vi.waitFor(() => expect(state.serverPid()).toEqual(expect.any(Number)), OFTEN);
      await second.stop();
      expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
      expect(lines).toEqual([]);
    } finally {
      bystander.kill();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('the worker is killed in the middle of a turn: the turn is lost with it, and no file is', async () => {
    await using home = await farHome();
    await using nas = await home.join('nas');
    const { project } = home;
    await project.answer('hello');
    const asked = project.turn('shell: echo kept > late.txt; sleep 600');
    await vi.waitFor(() => expect(project.server.requests).toHaveLength(2), OFTEN);
    await vi.waitFor(() => expect(nas.fileOf('family', 'late.txt')).toBe('kept\n'), OFTEN);
    nas.process.kill('SIGKILL');
    await once(nas.process, 'exit');
    nas.start();
    expect(await asked).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
    const late = join(project.dir, 'groups/family/late.txt');
    await vi.waitFor(() => expect(readFileSync(late, 'utf8')).toBe('kept\n'), OFTEN);
    expect(await project.answer('shell: cat late.txt')).toBe('kept\n[exit code 0]');
  });

  test('a machine sees and says nothing that is not its own, and is out the moment it is removed', async () => {
    await using home = await farHome();
    await using _ = await home.join('nas');
    const { project } = home;
    await project.answer('hello');
    const code = joinCode.read(home.state.add('eve', Date.now()));
    if (code === null) throw new Error('no code');
    const seed = await enrol({ ...code, port: home.port });
    const refused = Promise.withResolvers<string>();
    const eve = await connectFar({
      ...code,
      port: home.port,
      seed,
      waitsForServer: false,
      onUp: () => {},
      onRefused: refused.resolve,
    });
    const seen: string[] = [];
    for (const subject of [
      'far.>',
      'far.down.nas.>',
      'far.up.nas.>',
      '>',
      '$JS.API.>',
      '_INBOX.>',
    ]) {
      eve.subscribe(subject, (name) => void seen.push(name));
    }
    // Ends the other machine's container, says it is that machine, and lets itself in again.
    eve.publish('far.up.nas.chat.family.1', endMessage(1, 'forged'));
    eve.publish('far.up.nas.alive', '{}');
    eve.publish('far.down.nas.chat.family.1', endMessage(1, 'forged'));
    eve.publish('far.enrol.eve', createUser().getPublicKey());
    // Its own subjects are its own, and the chat is not there: an old and a new number.
    eve.publish('far.up.eve.chat.family.1', endMessage(1, 'forged'));
    eve.publish('far.up.eve.chat.family.2', Buffer.alloc(64, 4));
    await eve.flush().catch(() => {});
    expect(await project.answer('still here')).toBe('You said: still here');
    expect(home.places.fences).toEqual([1]);
    expect(seen).toEqual([]);
    expect(home.state.remove('eve')).toBe(true);
    await refused.promise;
    await eve.close();
  });

  test('a machine that is removed loses its turn at once, and the chat goes on at home', async () => {
    await using home = await farHome();
    await using _ = await home.join('nas');
    const { project } = home;
    await project.answer('hello');
    const asked = project.turn('shell: sleep 600');
    await vi.waitFor(() => expect(project.server.requests).toHaveLength(2), OFTEN);
    home.state.remove('nas');
    expect(await asked).toMatchObject({ kind: 'failed', code: 'MACHINE_LOST' });
    expect(await project.answer('hello')).toBe('You said: hello');
  });
});

function listening(): string {
  return execFileSync('ss', ['-lntup'], { encoding: 'utf8' });
}

// The server in Docker: an image with nats-server alone, as the official one is.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { examination } from '../../../src/doctor/far.ts';
import { enrol } from '../../../src/lib/far/enrol.ts';
import { connectFar } from '../../../src/lib/far/far-connection.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { joinCode } from '../../../src/lib/far/join-code.ts';
import { checkImage, containerName } from '../../../src/lib/far/nats-container.ts';
import { checkServer } from '../../../src/lib/far/server-check.ts';
import { openFarHome } from '../../../src/sandbox/machines/far/home.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { freePort } from '../../../src/testing/free-port.ts';
import { OFTEN } from './far-home.ts';

const PROGRAM = ['/usr/sbin/nats-server', '/usr/bin/nats-server'].find((path) => existsSync(path));

const docker = (...words: string[]) =>
  execFileSync('docker', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

await describeWithEngine('docker', 'a server in a container', () => {
  test.skipIf(PROGRAM === undefined)(
    'lets machines in and out, comes back after a kill, and leaves nothing behind',
    async () => {
      // Not below the system's temporary folder, which the daemon may not share.
      const dataDir = mkdtempSync('/tmp/claw-far-contained-server-');
      const image = `patchclaw-test-nats:${process.pid}`;
      copyFileSync(PROGRAM ?? '', join(dataDir, 'nats-server'));
      const bases = ['patchclaw-base:bookworm', 'node:24-slim'];
      const base = bases.find((one) => docker('images', '-q', one) !== '') ?? '';
      writeFileSync(
        join(dataDir, 'Dockerfile'),
        `FROM ${base}\nCOPY nats-server /nats-server\nENTRYPOINT ["/nats-server"]\nCMD ["-c", "none"]\n`,
      );
      docker('build', '-q', '-t', image, dataDir);
      const state = new FarState(dataDir);
      const own = () => docker('ps', '-aq', '--filter', `volume=${state.dir}`);
      const lines: string[] = [];
      const open = () =>
        openFarHome({
          dataDir,
          patienceMs: 60_000,
          now: Date.now,
          elapsed: Date.now,
          onProgress: (line: string) => void lines.push(line),
          onFilesLeft: () => {},
          openEngine: () => ({ resume: () => {}, close: () => {} }) as never,
        } as never);
      try {
        expect(await checkImage(image)).toMatch(/^nats-server: v2/);
        await expect(checkImage(base)).rejects.toThrow(/holds no NATS server|cannot run/);
        await state.setUp('127.0.0.1', await freePort(), image);
        // One that is left of an assistant that was killed has the name.
        const { dir } = state;
        docker(
          'run',
          '--detach',
          '--name',
          containerName(state),
          '--volume',
          `${dir}:${dir}`,
          image,
          '-p',
          '1',
        );
        const left = own();
        const home = await open();
        try {
          // A server that reads its file again, as at each start of a home, may refuse who dials meanwhile.
          await vi.waitFor(
            async () =>
              expect(await checkServer(state)).toMatchObject({
                kind: 'usable',
                hasJetStream: true,
              }),
            OFTEN,
          );
          expect(own()).not.toBe(left);
          const { HostConfig } = JSON.parse(docker('inspect', own()))[0];
          expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'] });
          const code = joinCode.read(state.add('nas', Date.now()));
          if (code === null) throw new Error('no code');
          const seed = await enrol(code);
          const refused = Promise.withResolvers<string>();
          const usual = { waitsForServer: false, onUp: () => {}, onRefused: refused.resolve };
          const machine = await vi.waitFor(() => connectFar({ ...code, seed, ...usual }), OFTEN);
          await vi.waitFor(async () => {
            const [first] = await examination.examine({
              dataDir,
              isOffline: false,
              now: Date.now,
            } as never);
            expect(first?.message).toMatch(/the server in Docker.*answers.*machines: nas/);
          }, OFTEN);
          expect(state.remove('nas')).toBe(true);
          await refused.promise;
          await machine.close();

          const before = own();
          docker('kill', before);
          await vi.waitFor(
            async () => expect(await checkServer(state)).toMatchObject({ kind: 'usable' }),
            OFTEN,
          );
          expect(own()).not.toBe(before);
          expect(readFileSync(state.pidPath, 'utf8')).toBe(String(state.serverPid()));
        } finally {
          await home?.close();
        }
        expect(own()).toBe('');
      } finally {
        execFileSync(
          'bash',
          [
            '-c',
            `docker rm -f $(docker ps -aq --filter volume=${state.dir}) ; docker rmi -f ${image} || true`,
          ],
          { stdio: 'ignore' },
        );
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
  );
});

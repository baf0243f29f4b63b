// Debian's sshd with a configuration, keys and a port of its own; who logs in is this user, in another home folder.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { freePort } from '../../../src/testing/free-port.ts';
import { OFTEN } from './far-home.ts';

const SSHD = '/usr/sbin/sshd';
/** Where root's sshd gives up its rights; the service of the system makes it otherwise. */
const EMPTY = '/run/sshd';

/** Why no sshd can be started here; null where one can. */
export const noSshd = existsSync(SSHD) ? null : 'openssh-server is not installed';

export type SshServer = AsyncDisposable & {
  /** The home folder of who logs in. */
  readonly home: string;
  /** The folder with an `ssh` that uses this server's keys and settings, for a PATH. */
  readonly bin: string;
  readonly target: string;
  /** Values of PATH there: with a Node that is too old, and with none. */
  readonly oldNode: string;
  readonly noNode: string;
  /** What a login there has in its environment. */
  environment(variables: Readonly<Record<string, string>>): Promise<void>;
  /** Forgets the host key, or takes another one for it. */
  forgetHostKey(other?: boolean): void;
  /** Takes no key any more, or takes it again. */
  authorize(isAllowed: boolean): void;
  stop(): Promise<void>;
  /** The worker that was started there. */
  workerPid(): number | null;
};

export async function sshServer(): Promise<SshServer> {
  const dir = mkdtempSync(join(tmpdir(), 'claw-ssh-'));
  const file = (name: string) => join(dir, name);
  const [home, bin, tools] = [file('home'), file('bin'), file('tools')];
  for (const one of [home, bin, tools]) mkdirSync(one);
  const isMade = process.getuid?.() === 0 && !existsSync(EMPTY);
  if (isMade) mkdirSync(EMPTY, { mode: 0o755 });
  for (const name of ['host', 'user', 'other']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(name)]);
  }
  // Only these programs are there, beside those of the system.
  symlinkSync(process.execPath, join(tools, 'node'));
  // Nothing becomes a service of the machine that runs the test.
  writeFileSync(join(tools, 'systemctl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  mkdirSync(file('old'));
  const old =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });";
  writeFileSync(file('old.cjs'), old);
  writeFileSync(
    join(file('old'), 'node'),
    `#!/bin/sh\nexec ${process.execPath} -r ${file('old.cjs')} "$@"\n`,
    { mode: 0o755 },
  );
  mkdirSync(file('none'));
  for (const name of ['sh', 'tail']) symlinkSync(`/bin/${name}`, join(file('none'), name));
  const port = await freePort();
  const settings = {
    Host: 'nas',
    HostName: '127.0.0.1',
    Port: port,
    User: userInfo().username,
    IdentityFile: file('user'),
    IdentitiesOnly: 'yes',
    UserKnownHostsFile: file('known'),
    GlobalKnownHostsFile: '/dev/null',
  };
  writeFileSync(file('settings'), linesOf(settings));
  // Without a terminal, so that a person who runs the test is not asked.
  writeFileSync(
    join(bin, 'ssh'),
    `#!/bin/sh\nexec setsid /usr/bin/ssh -F ${file('settings')} "$@"\n`,
  );
  chmodSync(join(bin, 'ssh'), 0o755);
  const publicKey = (name: string) => readFileSync(file(`${name}.pub`), 'utf8');
  const know = (name: string) =>
    writeFileSync(file('known'), `[127.0.0.1]:${port} ${publicKey(name)}`);
  const usual = { HOME: home, PATH: `${tools}:/usr/bin:/bin`, CLAW_SANDBOX: 'bubblewrap' };
  let daemon: ChildProcess | null = null;

  async function stop(): Promise<void> {
    if (daemon === null) return;
    const ended = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    await ended;
    daemon = null;
  }

  async function start(variables: Readonly<Record<string, string>>): Promise<void> {
    await stop();
    const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    writeFileSync(
      file('sshd'),
      linesOf({
        Port: port,
        ListenAddress: '127.0.0.1',
        HostKey: file('host'),
        PidFile: 'none',
        AuthorizedKeysFile: file('authorized'),
        StrictModes: 'no',
        UsePAM: 'no',
        PasswordAuthentication: 'no',
        KbdInteractiveAuthentication: 'no',
        PermitRootLogin: 'prohibit-password',
        SetEnv: words.join(' '),
      }),
    );
    daemon = spawn(SSHD, ['-D', '-e', '-f', file('sshd')], { stdio: 'ignore' });
    await vi.waitFor(async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
    }, OFTEN);
  }

  const server: SshServer = {
    ...{ home, bin, target: 'nas', oldNode: `${file('old')}:/usr/bin:/bin`, noNode: file('none') },
    stop,
    environment: (variables) => start({ ...usual, ...variables }),
    forgetHostKey: (other = false) => (other ? know('other') : rmSync(file('known'))),
    authorize(isAllowed) {
      know('host');
      writeFileSync(file('authorized'), isAllowed ? publicKey('user') : publicKey('other'));
    },
    workerPid() {
      const path = join(home, '.local/share/patchclaw-worker/far-worker/worker.pid');
      return existsSync(path) ? Number(readFileSync(path, 'utf8')) : null;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      const pid = server.workerPid();
      if (pid !== null) {
        try {
          process.kill(pid, 'SIGTERM');
        } catch {
          // It has ended already.
        }
        await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), OFTEN);
      }
      rmSync(dir, { recursive: true, force: true });
      if (isMade) rmdirSync(EMPTY);
    },
  };
  server.authorize(true);
  await server.environment({});
  return server;
}

const linesOf = (settings: Readonly<Record<string, string | number>>) =>
  Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('');

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A process of the run that is started again whenever it ends, as a service is. */
export class Service {
  readonly #start: () => ChildProcess;
  #child: ChildProcess;
  #isStopped = false;
  readonly name: string;
  output = '';

  constructor(name: string, start: () => ChildProcess) {
    this.name = name;
    this.#start = start;
    this.#child = this.#watch(start());
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Kills it, or its whole group, and starts it after the pause. */
  async kill(pauseMs: number, isGroup = false): Promise<void> {
    const child = this.#child;
    const gone = once(child, 'exit');
    process.kill(isGroup ? -this.pid : this.pid, 'SIGKILL');
    await gone;
    await delay(pauseMs);
    if (this.#child === child) this.#child = this.#watch(this.#start());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }

  #watch(child: ChildProcess): ChildProcess {
    const note = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-200_000);
    };
    child.stdout?.on('data', note);
    child.stderr?.on('data', note);
    child.once('exit', (code) => {
      // Killed by the plan, which starts it again.
      if (this.#isStopped || code === null) return;
      note(Buffer.from(`[${this.name} ended by itself: ${code}]\n`));
      setTimeout(() => {
        if (!this.#isStopped) this.#child = this.#watch(this.#start());
      }, 1_000);
    });
    return child;
  }
}

/** Starts a program in a group of its own; its input stays open. */
export function launch(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const [file = '', ...args] = command;
  return spawn(file, args, {
    cwd,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

/** A process, told from a later one with the same number. */
export type KnownProcess = {
  readonly pid: number;
  readonly started: string;
  readonly command: string;
};

/** Returns all processes below one. */
export function descendants(pid: number): readonly KnownProcess[] {
  const children = new Map<number, KnownProcess[]>();
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? look(Number(name)) : null;
    if (found === null) continue;
    const { parent, ...known } = found;
    children.set(parent, [...(children.get(parent) ?? []), known]);
  }
  const below = (of: number): KnownProcess[] =>
    (children.get(of) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
}

export function isAlive({ pid, started }: KnownProcess): boolean {
  const found = look(pid);
  return found !== null && found.started === started;
}

/** Null for what has ended, or only waits to be noticed. */
function look(pid: number): (KnownProcess & { readonly parent: number }) | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .replaceAll('\0', ' ')
      .slice(0, 200);
    const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? null : { pid, parent: Number(parent), started: rest[17] ?? '', command };
  } catch {
    return null;
  }
}

/** A Docker daemon of the run's own, without a network, that can be killed. */
export type OwnDaemon = {
  readonly socket: string;
  readonly service: Service;
  /** Null while it is down: they may be there, and nobody can remove them. */
  containers(): readonly string[] | null;
};

/** Starts it and gives it the agent's images of the daemon here. */
export async function startDaemon(
  dir: string,
  env: Readonly<Record<string, string>>,
  enter: (command: readonly string[]) => readonly string[],
): Promise<OwnDaemon> {
  mkdirSync(dir, { recursive: true });
  const socket = join(dir, 'docker.sock');
  // In a network namespace of its own: a daemon without a bridge takes that of the machine's daemon away.
  const command = enter([
    'dockerd',
    ...['--data-root', join(dir, 'docker'), '--exec-root', join(dir, 'exec')],
    ...['--pidfile', join(dir, 'dockerd.pid'), '-H', `unix://${socket}`],
    ...['--bridge', 'none', '--iptables=false'],
  ]);
  const docker = (...words: string[]): string =>
    execFileSync('docker', ['-H', `unix://${socket}`, ...words], {
      encoding: 'utf8',
      stdio: 'pipe',
      // The proxies stand still meanwhile.
      timeout: 10_000,
    });
  const service = new Service('dockerd', () => launch(command, dir, env));
  for (let tries = 0; ; tries += 1) {
    try {
      docker('info');
      break;
    } catch (error) {
      if (tries > 120) throw error;
      await delay(500);
    }
  }
  const images = execFileSync('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((image) => /^(patchclaw-base|patchclaw-agent|node):/.test(image));
  execFileSync('bash', ['-c', `docker save ${images.join(' ')} | docker -H unix://${socket} load`]);
  return {
    socket,
    service,
    containers() {
      try {
        return docker('ps', '-aq', '--no-trunc').split('\n').filter(Boolean);
      } catch {
        return null;
      }
    },
  };
}

/** A daemon that was killed leaves its own folder mounted. */
export function unmountBelow(dir: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  for (const line of mounts.reverse()) {
    const [, at = ''] = line.split(' ');
    if (at.startsWith(`${dir}/`)) execFileSync('umount', ['--lazy', at]);
  }
}

/** Has a worker dial another port of this machine, where a proxy is. */
export function dialThrough(dataDir: string, port: number): void {
  const path = join(dataDir, 'far-worker/worker.json');
  if (!existsSync(path)) throw new Error(`${path} is not there`);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), port }));
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The home's address in the network of the machines, and the first part of all of theirs. */
export const HOME_ADDRESS = '10.77.40.1';
const NETWORK = '10.77.40';
const HOME_END = 'claw-swarm';

const run = (...[program = '', ...words]: readonly string[]): string =>
  execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/**
 * A bridge in a network namespace of its own, to which the home and the machines are connected: one in the machine's own
 * namespace would be filtered by the rules of the Docker daemon there.
 */
export class Lan {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async open(): Promise<Lan> {
    const holder = spawn('unshare', ['--net', '--kill-child', 'bash', '-c', 'echo up; read -r _'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    const lan = new Lan(holder);
    lan.#inside('ip', 'link', 'add', 'lan', 'type', 'bridge');
    lan.#inside('ip', 'link', 'set', 'lan', 'up');
    run('ip', 'link', 'add', HOME_END, 'type', 'veth', 'peer', 'home', 'netns', `${holder.pid}`);
    run('ip', 'addr', 'add', `${HOME_ADDRESS}/24`, 'dev', HOME_END);
    run('ip', 'link', 'set', HOME_END, 'up');
    lan.#plug('home');
    return lan;
  }

  /** Connects a process's network namespace by `eth0`. */
  connect(name: string, pid: number): void {
    const end = `to-${name}`;
    this.#inside(
      ...['ip', 'link', 'add', end, 'type', 'veth', 'peer', 'eth0', 'netns', String(pid)],
    );
    this.#plug(end);
  }

  /** The cable of a machine. */
  setCable(name: string, isPlugged: boolean): void {
    this.#inside('ip', 'link', 'set', `to-${name}`, isPlugged ? 'up' : 'down');
  }

  close(): void {
    // The bridge and all cables go with the namespace.
    this.#holder.kill('SIGKILL');
  }

  #plug(end: string): void {
    this.#inside('ip', 'link', 'set', end, 'master', 'lan');
    this.#inside('ip', 'link', 'set', end, 'up');
  }

  #inside(...words: readonly string[]): void {
    run('nsenter', `--net=/proc/${this.#holder.pid}/ns/net`, ...words);
  }
}

/**
 * A machine of a swarm: namespaces of its own for network, host name, mounts and processes, with a Docker daemon in them at
 * its usual places. Its disk is a folder, and survives a power cut.
 */
export class SwarmNode {
  readonly name: string;
  readonly address: string;
  readonly #lan: Lan;
  readonly #dir: string;
  #init: ChildProcess | null = null;

  constructor(lan: Lan, place: string, name: string, host: number) {
    this.name = name;
    this.address = `${NETWORK}.${host}`;
    this.#lan = lan;
    this.#dir = join(place, name);
    mkdirSync(join(this.#dir, 'lib'), { recursive: true });
    mkdirSync(join(this.#dir, 'etc'));
  }

  /** Starts it, and waits until its daemon answers. */
  async powerOn(): Promise<void> {
    const boot = `set -e
hostname ${this.name}
mount -t tmpfs tmpfs /run
mount --bind ${this.#dir}/lib /var/lib
mount --bind ${this.#dir}/etc /etc/docker
echo up
read -r _
ip link set lo up
ip addr add ${this.address}/24 dev eth0
ip link set eth0 up
ip route add default via ${HOME_ADDRESS}
exec docker-init -- dockerd -H unix:///var/run/docker.sock -H unix://${this.#dir}/docker.sock \\
  --cgroup-parent ${this.cgroup}`;
    const init = spawn(
      'unshare',
      [
        ...['--net', '--uts', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
        ...['bash', '-c', boot],
      ],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    const note = (chunk: Buffer): void => appendFileSync(join(this.#dir, 'log'), chunk);
    init.stderr.on('data', note);
    await once(init.stdout, 'data');
    init.stdout.on('data', note);
    this.#lan.connect(this.name, init.pid ?? 0);
    this.#init = init;
    init.stdin.write('\n');
    for (let tries = 0; ; tries += 1) {
      try {
        this.docker('info');
        return;
      } catch (error) {
        if (tries > 120 || init.exitCode !== null) throw error;
        await delay(500);
      }
    }
  }

  /** Ends all its processes at once: the daemon, its containers, everything. */
  async powerOff(): Promise<void> {
    const init = this.#init;
    if (init === null || init.exitCode !== null || init.signalCode !== null) return;
    this.#init = null;
    init.kill('SIGKILL');
    await once(init, 'exit');
  }

  /** Has its daemon carry out a command, and returns what it prints. */
  docker(...words: readonly string[]): string {
    return run('docker', '-H', this.socket, ...words).trim();
  }

  get socket(): string {
    return `unix://${this.#dir}/docker.sock`;
  }

  get cgroup(): string {
    return `/claw-swarm-${this.name}`;
  }

  /** The folder that is `/var/lib` there. */
  get lib(): string {
    return join(this.#dir, 'lib');
  }
}

import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { visible } from '@patchclaw/claw/text';
import { execa } from 'execa';
import { z } from 'zod';
import { jsonWithin } from '../bounded-json.ts';
import { FleetRefused, type Version } from './fleet-book.ts';

const SECCOMP = join(import.meta.dirname, 'image/seccomp.json');
const PROGRAM = ['node', '/opt/patchclaw/instance.mjs'];
/** A first start copies half a gigabyte into the volume. */
const READY_MS = 900_000;
const LOOK_MS = 500;
const STOP_SECONDS = 20;
/** What runs inside is its owner's: it may never answer, and others wait meanwhile. */
const ANSWER_MS = 30_000;
/** An upgrade proves the skills of the owner. */
const WORK_MS = 3_600_000;
const MAX_OUTPUT = 32 * 1_048_576;
const BOUNDS = { maxBytes: MAX_OUTPUT, maxValues: 500_000, maxDepth: 64 };

/** How a container is started: what it runs, and whether it sees a network. */
export type Start = Version & { readonly isAlone?: boolean };

/** The end of a program inside a container. */
export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A container as the engine has it. */
export type ContainerLook = {
  readonly isRunning: boolean;
  /** How often its program ended and was started again by the engine. */
  readonly restarts: number;
  readonly volume: string;
  readonly isAlone: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
};

const LOOK =
  '{{.State.Running}} {{.RestartCount}} {{range .Mounts}}{{.Name}}{{end}} {{.HostConfig.NetworkMode}} {{.State.StartedAt}}';

/** What an instance has done and has to do, as `instance.mjs activity` says it. */
const Activity = z.object({
  messages: z.int(),
  lastMessageAt: z.number().nullable(),
  /** Turns that were begun or wait. */
  turns: z.int(),
  open: z.int(),
  /** What is open, each with how far it is: one that is not in a later list has gone on. */
  waiting: z.array(z.string().max(300)).max(100_000),
  nextTaskAt: z.number().nullable(),
});
export type Activity = z.output<typeof Activity>;

const Volumes = z.array(z.object({ Name: z.string(), Size: z.string().max(40) })).max(10_000);

/** No other header: it is shown at the keeper's own address. */
const Answer = z.object({
  status: z.int().min(200).max(599),
  headers: z.object({
    'content-type': z.string().max(200).exactOptional(),
    'retry-after': z.string().max(20).exactOptional(),
  }),
  body: z.string(),
});
export type InstanceAnswer = z.output<typeof Answer>;

/**
 * The containers and volumes of one fleet, by the `docker` command: so the keeper's own context counts, and podman does
 * as well where it is called `docker`.
 */
export class Containers {
  readonly #id: string;
  readonly #memory: string;
  readonly #limits: { readonly answerMs: number; readonly workMs: number };

  constructor(id: string, memory: string, limits = { answerMs: ANSWER_MS, workMs: WORK_MS }) {
    this.#id = id;
    this.#memory = memory;
    this.#limits = limits;
  }

  nameOf(name: string): string {
    return `claw-${this.#id}-${name}`;
  }

  /** Starts a container, and replaces one of that name. Its program may take minutes until it is up. */
  async start(name: string, { volume, image, isAlone = false }: Start): Promise<void> {
    await this.remove(name);
    const network = isAlone ? 'none' : await this.#network();
    await docker('run', '--detach', '--name', this.nameOf(name), '--restart', 'unless-stopped', [
      ...this.#hardened(volume),
      ...['--network', network, '--log-opt', 'max-size=10m', '--log-opt', 'max-file=2'],
      image,
    ]);
  }

  /** Runs `claw` on a volume that no container uses, and returns its end. */
  async runClaw({ volume, image }: Version, words: readonly string[]): Promise<Ended> {
    const network = await this.#network();
    return await this.#runOnce(volume, ['--network', network, image, 'claw', ...words]);
  }

  /** Runs a shell line on a volume, with `other` at /other, to write only in the first. Without a network. */
  async shell(
    { volume, image }: Version,
    line: string,
    { other = null, input = '' }: { readonly other?: string | null; readonly input?: string } = {},
  ): Promise<string> {
    const more = other === null ? [] : ['--volume', `${other}:/other:ro`];
    const words = ['--network', 'none', '--entrypoint', 'sh', image, '-ec', line];
    const ran = await this.#runOnce(volume, [...more, ...words], input);
    if (ran.code === 0) return ran.stdout;
    throw new FleetRefused(`A volume could not be prepared: ${lastLine(ran.stderr)}`);
  }

  /** Runs something in a container of its own, which goes with it. */
  async #runOnce(volume: string, words: readonly string[], input = ''): Promise<Ended> {
    const name = this.nameOf(`once-${randomBytes(6).toString('hex')}`);
    const once = ['run', '--rm', '--interactive', '--name', name, ...this.#step];
    const options = [...once, ...this.#hardened(volume)];
    const ended = await ask([...options, ...words], { timeout: this.#limits.workMs, input });
    // Whoever asked is gone; what was started is not.
    if (ended.isLate) await ask(['rm', '--force', name]);
    return ended;
  }

  /** Runs a program in a container that is there. */
  async #inside(name: string, words: readonly string[], timeout = this.#limits.answerMs) {
    return await ask(['exec', this.nameOf(name), ...PROGRAM, ...words], { timeout });
  }

  /** Runs `claw` in a container that is there, and returns its end. */
  async claw(name: string, words: readonly string[]): Promise<Ended> {
    return await this.#inside(name, ['claw', ...words], this.#limits.workMs);
  }

  /** Looks at a container; null where there is none. */
  async look(name: string): Promise<ContainerLook | null> {
    const { code, stdout } = await ask(['inspect', '--format', LOOK, this.nameOf(name)]);
    if (code !== 0) return null;
    const [running, restarts, volume = '', network, startedAt = ''] = stdout.trim().split(' ');
    return {
      isRunning: running === 'true',
      restarts: Number(restarts),
      volume,
      isAlone: network === 'none',
      startedAt: Date.parse(startedAt) || 0,
    };
  }

  /** Waits until the assistant in a container answers. Returns why it does not; null where it does. */
  async untilUp(name: string, signal: AbortSignal, patienceMs = READY_MS): Promise<string | null> {
    const end = performance.now() + patienceMs;
    for (;;) {
      signal.throwIfAborted();
      const { code } = await this.#inside(name, ['health']);
      if (code === 0) return null;
      const look = await this.look(name);
      if (look === null || !look.isRunning || look.restarts > 0)
        return `it ended: ${await this.#lastWords(name)}`;
      if (performance.now() > end) return `it does not come up: ${await this.#lastWords(name)}`;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async activity(name: string): Promise<Activity> {
    return Activity.parse(await this.#answerOf(name, 'activity'));
  }

  /** Says the same of a volume that no container uses. */
  async activityIn(version: Version): Promise<Activity> {
    const line = `${PROGRAM.join(' ')} activity`;
    return Activity.parse(jsonOfInstance(await this.shell(version, line)));
  }

  /** Hands a request to the assistant in a container. */
  async request(name: string, request: Readonly<Record<string, unknown>>): Promise<InstanceAnswer> {
    const words = ['exec', '--interactive', this.nameOf(name), ...PROGRAM, 'request'];
    const { code, stdout, stderr } = await ask(words, {
      timeout: this.#limits.answerMs,
      input: JSON.stringify(request),
    });
    if (code !== 0) throw new FleetRefused(`${name} says nothing: ${lastLine(stderr)}`);
    return Answer.parse(jsonOfInstance(stdout));
  }

  /** Stops and removes a container. Its turns go on at the next start; the volume stays. */
  async remove(name: string): Promise<void> {
    if ((await this.look(name)) === null) return;
    await ask(['stop', '--time', String(STOP_SECONDS), this.nameOf(name)]);
    await docker('rm', '--force', this.nameOf(name));
  }

  /** Ends the steps of a command that was killed: each is a container of its own, which the engine goes on with. */
  async removeSteps(): Promise<void> {
    const [, label = ''] = this.#step;
    const found = await docker('ps', '--all', '--quiet', '--filter', `label=${label}`);
    // One that ends by itself is removed by the engine meanwhile.
    for (const id of found.split('\n').filter((one) => one !== ''))
      await ask(['rm', '--force', id]);
  }

  async makeVolume(volume: string): Promise<void> {
    await docker('volume', 'create', '--label', `patchclaw.fleet=${this.#id}`, volume);
  }

  /** Removes a volume, if it is there. Returns whether it is gone. */
  async removeVolume(volume: string): Promise<boolean> {
    const { code } = await ask(['volume', 'rm', '--force', volume]);
    return code === 0;
  }

  /** Returns how large each volume is, as Docker writes it; none where Docker is too busy to count. */
  async sizes(): Promise<ReadonlyMap<string, string>> {
    const words = ['system', 'df', '--verbose', '--format', '{{json .Volumes}}'];
    const { code, stdout } = await ask(words, { timeout: this.#limits.answerMs });
    const volumes = code === 0 ? Volumes.safeParse(jsonWithin(stdout, BOUNDS)).data : undefined;
    return new Map(volumes?.map(({ Name, Size }) => [Name, Size]));
  }

  /** Removes the images of this fleet that are not named; one that a container still uses stays until the next time. */
  async removeImagesBut(used: ReadonlySet<string>): Promise<void> {
    const format = '{{.Repository}}:{{.Tag}}';
    const found = await docker('images', '--format', format, imageNameOf(this.#id));
    const unused = found.split('\n').filter((one) => one !== '' && !used.has(one));
    for (const image of unused) await ask(['rmi', image]);
  }

  /** Copies a file of a volume to this machine, as it is there; a kill leaves nothing at `to`. */
  async copyOut({ volume, image }: Version, path: string, to: string): Promise<void> {
    const words = ['run', '--rm', ...this.#step, ...this.#hardened(volume), '--network', 'none'];
    await execa('docker', [...words, '--entrypoint', 'cat', image, path], {
      stdout: { file: `${to}.part` },
      buffer: false,
    });
    await rename(`${to}.part`, to);
  }

  async #answerOf(name: string, word: string): Promise<unknown> {
    const { code, stdout, stderr } = await this.#inside(name, [word]);
    if (code !== 0) throw new FleetRefused(`${name} says nothing: ${lastLine(stderr)}`);
    return jsonOfInstance(stdout);
  }

  async #lastWords(name: string): Promise<string> {
    const { stdout, stderr } = await ask(['logs', '--tail', '20', this.nameOf(name)]);
    return lastLine(stderr) || lastLine(stdout) || 'it said nothing';
  }

  /**
   * One network for the fleet, in which instances do not reach each other. Its bridge has a name that the keeper's firewall
   * can know.
   */
  async #network(): Promise<string> {
    const network = `claw-${this.#id}`;
    const { code } = await ask(['network', 'inspect', network]);
    if (code === 0) return network;
    const options = ['enable_icc=false', `name=${network}`].flatMap((option) => [
      ...['--opt', `com.docker.network.bridge.${option}`],
    ]);
    await docker('network', 'create', '--driver', 'bridge', options, network);
    return network;
  }

  /** Removes the network of a fleet without instances; the next instance makes it again. */
  async removeNetwork(): Promise<void> {
    await ask(['network', 'rm', `claw-${this.#id}`]);
  }

  /** Tells a step of a command from an instance, and from what somebody runs of the same image, which has its labels. */
  get #step(): string[] {
    return ['--label', `patchclaw.fleet.step=${this.#id}`];
  }

  /**
   * No rights of root, and none to get: but bubblewrap, which closes in the agents, makes namespaces of users and mounts
   * a /proc of its own in them. Docker's default profile forbids the first, and its masks over /proc the second.
   */
  #hardened(volume: string): string[] {
    return [
      ...['--init', '--user', '1000:1000', '--cap-drop', 'ALL'],
      ...['--security-opt', 'no-new-privileges', '--security-opt', `seccomp=${SECCOMP}`],
      ...['--security-opt', 'systempaths=unconfined'],
      ...['--read-only', '--tmpfs', '/tmp:exec,size=2g,mode=1777'],
      ...['--memory', this.#memory, '--pids-limit', '2048'],
      ...['--label', `patchclaw.fleet=${this.#id}`, '--volume', `${volume}:/instance`],
    ];
  }
}

/** Names the images of a fleet: two fleets with the same code do not take each other's away. */
export function imageNameOf(fleetId: string): string {
  return `claw-fleet-${fleetId}`;
}

/** Reads what an instance says: its owner can make it say anything. */
export function jsonOfInstance(text: string): unknown {
  return jsonWithin(text, BOUNDS);
}

/** Runs docker. @throws FleetRefused with its last line */
export async function docker(...words: (string | string[])[]): Promise<string> {
  const { code, stdout, stderr } = await ask(words.flat());
  if (code !== 0) throw new FleetRefused(`docker: ${lastLine(stderr) || `exit code ${code}`}`);
  return stdout;
}

async function ask(
  words: readonly string[],
  { timeout = 0, input = '' }: { readonly timeout?: number; readonly input?: string } = {},
): Promise<Ended & { readonly isLate: boolean }> {
  const options = { reject: false, maxBuffer: MAX_OUTPUT, input, timeout } as const;
  const ran = await execa('docker', words, options);
  if (ran.code === 'ENOENT') throw new FleetRefused('The fleet needs the `docker` command.');
  const { stdout, stderr, timedOut: isLate } = ran;
  // Ended by its signal, docker says that all is well.
  if (isLate) return { code: 1, stdout, stderr: 'it did not end', isLate };
  return { code: ran.exitCode ?? 1, stdout, stderr, isLate };
}

function lastLine(text: string): string {
  return visible(text.trim().split('\n').at(-1)?.trim().slice(0, 500) ?? '');
}

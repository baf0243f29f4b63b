import { randomBytes } from 'node:crypto';
import { Duplex, PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker, { type DockerOptions } from 'dockerode';
import type { Program } from '../../../lib/program.ts';
import { TIMED_OUT, withTimeout } from '../../../lib/timeout.ts';
import type { AgentUser } from '../../mounts/ownership.ts';
import type {
  BuildMemory,
  Container,
  ContainerSpec,
  Engine,
  ProgramContainerSpec,
} from '../engine.ts';
import { EngineUnusable } from '../engine.ts';
import { containerOptions, programOptions } from './container-options.ts';
import { ensureImage, IMAGE_NAME } from './image.ts';
import { writeSeccompProfile } from './seccomp.ts';

const PING_TIMEOUT_MS = 3_000;
/** For questions that a daemon answers from what it knows, on a busy machine too. */
const ANSWER_TIMEOUT_MS = 20_000;
/** A daemon that was killed is back within seconds, or not at all. */
const REMOVAL_PAUSE_MS = 1_000;
const REMOVAL_TRIES = 600;
/** podman refuses to remove a container that is just ending, and does it a moment later. */
const REFUSED_PAUSE_MS = 100;
const REFUSED_TRIES = 20;
const INSTANCE_LABEL = 'patchclaw.instance';
const GROUP_LABEL = 'patchclaw.group';

/** Asks an address whether an engine is there. */
export async function pingDocker(address: DockerOptions): Promise<Docker | null> {
  const docker = new Docker({ ...address, timeout: PING_TIMEOUT_MS });
  const answered = await docker.ping().catch(() => null);
  return answered === null ? null : new Docker(address);
}

/** Facts that a daemon's engine needs once, before its first container. */
type EngineParts = {
  /** Marks this installation's containers, so that it clears up no others. */
  readonly instanceId: string;
  readonly projectDir: string;
  readonly baseImage: string | null;
  readonly builds?: BuildMemory | undefined;
  readonly onProgress: (line: string) => void;
};

export type DockerParts = EngineParts & {
  readonly docker: Docker;
  readonly name: 'docker' | 'podman';
  readonly user: AgentUser;
  /** Holds the profile of system calls that podman is given. */
  readonly dataDir: string;
};

/**
 * Makes an engine of a daemon that answers. The agent's image is built if it is missing, and containers that a killed
 * host left behind are removed.
 *
 * @throws EngineUnusable when the image can neither be found nor built, or the daemon hangs
 */
export async function openDocker(parts: DockerParts): Promise<Engine> {
  const { docker, name, instanceId } = parts;
  const left = await inAnswerTime(ownContainers(docker, instanceId));
  const { Version } = await inAnswerTime(docker.version());
  const placement = await inAnswerTime(placementOf(parts));
  let image = await ensureImage(docker, parts);
  await removeAll(docker, left);

  const naming: Naming = (folder) => ({
    ...placement,
    image: image.name,
    name: `patchclaw-${instanceId}-${folder}-${randomBytes(3).toString('hex')}`,
    labels: { [INSTANCE_LABEL]: instanceId, [GROUP_LABEL]: folder },
  });

  /** Starts once more with a new image where there is none: no container keeps it from being removed. */
  async function withImage<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      if (!isMissing(error)) throw error;
      image = await ensureImage(docker, parts);
      return await start();
    }
  }

  return {
    name,
    description: `${name} ${Version}, image ${IMAGE_NAME}${image.problem === null ? '' : ` of before (${image.problem})`}`,
    startContainer: (spec) => withImage(() => startContainer(docker, spec, naming)),
    startProgram: (spec) => withImage(() => startProgram(docker, spec, naming)),
  };
}

/** Waits for an answer for a limited time: a daemon can hang and still say that it is there. */
async function inAnswerTime<T>(asked: Promise<T>): Promise<T> {
  const answer = await withTimeout(asked, ANSWER_TIMEOUT_MS);
  if (answer !== TIMED_OUT) return answer;
  throw new EngineUnusable(
    `its daemon does not answer within ${ANSWER_TIMEOUT_MS / 1000} s; restart it.`,
  );
}

function isMissing(error: unknown): boolean {
  return (error as { readonly statusCode?: number }).statusCode === 404;
}

type Placement = {
  readonly user: string;
  readonly userNamespace: string | null;
  readonly securityOptions: readonly string[];
  readonly needsProcessUlimit: boolean;
};

/** Returns the user inside that is the agent's user outside, and options for the system's security modules. */
async function placementOf({ docker, name, user, dataDir }: DockerParts): Promise<Placement> {
  const { SecurityOptions = [] } = (await docker.info()) as { SecurityOptions?: string[] };
  const has = (word: string) => SecurityOptions.some((option) => option.includes(word));
  const isRootless = has('rootless');
  // Without it, SELinux forbids a container every file that is not labelled for containers.
  const securityOptions = has('selinux') ? ['label=disable'] : [];
  const profile = name === 'podman' && has('seccomp') ? await writeSeccompProfile(dataDir) : null;
  if (profile !== null) securityOptions.push(`seccomp=${profile}`);
  const needsProcessUlimit = name === 'podman';
  const usual = {
    user: `${user.uid}:${user.gid}`,
    userNamespace: null,
    securityOptions,
    needsProcessUlimit,
  };
  if (!isRootless) return usual;
  if (name === 'podman') return { ...usual, userNamespace: 'keep-id' };
  // Rootless Docker maps root inside, which has no capability here, to its owner outside.
  return { ...usual, user: '0:0' };
}

/** Returns the containers of an installation, running or not. */
export function ownContainers(
  docker: Docker,
  instanceId: string,
): Promise<readonly Docker.ContainerInfo[]> {
  const filters = { label: [`${INSTANCE_LABEL}=${instanceId}`] };
  return docker.listContainers({ all: true, filters });
}

/** Removes containers. One that cannot be removed is left to the next start. */
async function removeAll(docker: Docker, left: readonly Docker.ContainerInfo[]): Promise<void> {
  const removing = left.map(({ Id }) => removeContainer(docker.getContainer(Id)));
  await withTimeout(Promise.all(removing), ANSWER_TIMEOUT_MS);
}

type Naming = (
  folder: string,
) => Placement & { image: string; name: string; labels: Record<string, string> };

async function startContainer(
  docker: Docker,
  spec: ContainerSpec,
  naming: Naming,
): Promise<Container> {
  const container = await create(docker, containerOptions({ spec, ...naming(spec.folder) }));
  try {
    await container.start();
  } catch (error) {
    await removeContainer(container);
    throw error;
  }
  let stopped: Promise<void> | null = null;
  let isEngineLost = false;
  return {
    id: container.id,
    ended: endOf(container, () => {
      isEngineLost = true;
    }),
    get isEngineLost() {
      return isEngineLost;
    },
    stop() {
      stopped ??= removeContainer(container);
      return stopped;
    },
  };
}

/** Attaches to the program's streams before it runs, so that none of its words is lost. */
async function startProgram(
  docker: Docker,
  spec: ProgramContainerSpec,
  naming: Naming,
): Promise<Program> {
  const container = await create(docker, programOptions({ spec, ...naming(spec.name) }));
  try {
    const attached = await attach(docker, container.id);
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    docker.modem.demuxStream(attached, stdout, stderr);
    // The daemon closes the stream with the program, whose end tells the reason.
    attached.on('error', () => {});
    attached.once('close', () => {
      stdout.end();
      stderr.end();
    });
    await container.start();
    let stopped: Promise<void> | null = null;
    return {
      stdin: attached,
      stdout,
      stderr,
      ended: endOf(container),
      stop() {
        stopped ??= removeContainer(container);
        return stopped;
      },
    };
  } catch (error) {
    await removeContainer(container);
    throw error;
  }
}

/** Opens the streams of a container, by a request without a body: podman hands one on to the program as its input. */
function attach(docker: Docker, id: string): Promise<Duplex> {
  const request = {
    path: `/containers/${id}/attach?`,
    method: 'POST',
    options: { stream: true, stdin: true, stdout: true, stderr: true },
    file: Buffer.alloc(0),
    isStream: true,
    hijack: true,
    statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error, stream) => {
      if (stream instanceof Duplex) resolve(stream);
      else reject(error ?? new Error('The daemon attaches to no streams.'));
    });
  });
}

async function endOf(container: Docker.Container, onEngineLost = () => {}): Promise<string> {
  try {
    await untilEnd(container);
    const { State } = await container.inspect();
    return State.OOMKilled ? 'it ran out of memory' : `exit code ${State.ExitCode}`;
  } catch (error) {
    // Waiting fails when the container is removed or the daemon goes away: gone in both cases. A daemon that is there
    // answers with a status.
    if ((error as { readonly statusCode?: number }).statusCode === undefined) onEngineLost();
    return 'its container is gone';
  }
}

/** Waits as `container.wait()` does, which does not notice that its daemon goes away. */
async function untilEnd(container: Docker.Container): Promise<void> {
  const request = {
    path: `/containers/${container.id}/wait?`,
    method: 'POST',
    isStream: true,
    statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
  };
  const answer = await new Promise<Readable>((resolve, reject) => {
    container.modem.dial(request, (error: unknown, stream: unknown) => {
      if (stream instanceof Readable) resolve(stream);
      else reject(error ?? new Error('The daemon says nothing of a container.'));
    });
  });
  await finished(answer.resume(), { writable: false });
}

/** A daemon that goes away meanwhile may have made it: it is known by its name then. */
async function create(
  docker: Docker,
  options: Docker.ContainerCreateOptions,
): Promise<Docker.Container> {
  try {
    return await docker.createContainer(options);
  } catch (error) {
    const isAnswered = (error as { readonly statusCode?: number }).statusCode !== undefined;
    if (!isAnswered && options.name !== undefined) {
      await removeContainer(docker.getContainer(options.name));
    }
    throw error;
  }
}

/**
 * Never rejects. A daemon that answers and refuses is asked again for a moment: a process that ends after this would leave
 * the container. What cannot be removed now, such as while the daemon starts again, is removed once it can be, without
 * anybody waiting for it; else at the next start.
 */
async function removeContainer(container: Docker.Container): Promise<void> {
  for (let tries = 0; tries < REFUSED_TRIES; tries += 1) {
    const removal = await remove(container);
    if (removal === 'gone') return;
    if (removal === 'no answer') break;
    await sleep(REFUSED_PAUSE_MS);
  }
  void removeLater(container);
}

async function removeLater(container: Docker.Container): Promise<void> {
  for (let tries = 0; tries < REMOVAL_TRIES; tries += 1) {
    await sleep(REMOVAL_PAUSE_MS, null, { ref: false });
    if ((await remove(container)) === 'gone') return;
  }
}

async function remove(container: Docker.Container): Promise<'gone' | 'refused' | 'no answer'> {
  try {
    await container.remove({ force: true, v: true });
    return 'gone';
  } catch (error) {
    if (isMissing(error)) return 'gone';
    const { statusCode } = error as { readonly statusCode?: number };
    return statusCode === undefined ? 'no answer' : 'refused';
  }
}

/** Turns an error of the daemon into the reason why its engine cannot be used. */
export function unusable(error: unknown): EngineUnusable {
  if (error instanceof EngineUnusable) return error;
  return new EngineUnusable(error instanceof Error ? error.message : String(error));
}

import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import type { DockerOptions } from 'dockerode';
import { shortHash } from '../../protocol/socket-folder.ts';
import {
  type EngineContext,
  type EngineFinder,
  type EngineLook,
  EngineUnusable,
} from '../engine.ts';
import { openDocker, ownContainers, pingDocker, unusable } from './daemon.ts';
import { findImage } from './image.ts';

type Parts = Omit<EngineContext, 'nodePath'> & {
  readonly name: 'docker' | 'podman';
  /** The only address that is asked, where it is given. */
  readonly dockerHost: string | null;
};

/** Finds the daemon that answers, at the addresses where one of that name may listen. */
export function daemonFinder(parts: Parts): EngineFinder {
  const { dockerHost: _, homeDir: __, uid: ___, ...own } = parts;
  const { dataDir, projectDir, baseImage, name } = parts;
  const instanceId = shortHash(dataDir);
  return {
    open: () => withDaemon(parts, (docker) => openDocker({ ...own, docker, instanceId })),
    look: () =>
      withDaemon(parts, async (docker): Promise<EngineLook> => {
        const [{ Version }, info, image, containers] = await Promise.all([
          docker.version(),
          docker.info() as Promise<{ DockerRootDir?: string }>,
          findImage(docker, { projectDir, baseImage }),
          ownContainers(docker, instanceId),
        ]);
        const ids = containers.map(({ Id }) => Id);
        const rootDir = info.DockerRootDir ?? null;
        return { description: `${name} ${Version}`, image, containers: ids, rootDir };
      }),
  };
}

async function withDaemon<T>(
  { name, dockerHost, uid, homeDir }: Parts,
  use: (docker: Docker) => Promise<T>,
): Promise<T> {
  const reasons: string[] = [];
  for (const address of engineAddresses(name, { dockerHost, uid, homeDir })) {
    const docker = await pingDocker(address);
    if (docker === null) {
      reasons.push(...silence(address));
      continue;
    }
    return use(docker).catch((error: unknown) => {
      throw unusable(error);
    });
  }
  throw new EngineUnusable(reasons[0] ?? 'no daemon answers.');
}

/** Explains a daemon that is there and does not answer; nothing where there is none. */
function silence({ socketPath }: DockerOptions): readonly string[] {
  if (socketPath === undefined) return [];
  try {
    accessSync(socketPath, constants.R_OK | constants.W_OK);
    return [`no daemon answers on ${socketPath}: start it.`];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return [];
    return [
      `you may not use ${socketPath}. Join the group that owns it (\`sudo usermod -aG docker $USER\`), and log in again.`,
    ];
  }
}

type AddressParts = {
  /** `DOCKER_HOST`, which then is the only address that is asked. */
  readonly dockerHost: string | null;
  readonly uid: number | null;
  readonly homeDir: string;
};

/**
 * Returns addresses on which an engine may listen, likeliest first. Empty when `dockerHost` is of a kind
 * that is not supported.
 */
export function engineAddresses(
  name: 'docker' | 'podman',
  { dockerHost, uid, homeDir }: AddressParts,
): readonly DockerOptions[] {
  if (name === 'docker' && dockerHost !== null) return givenAddress(dockerHost);
  const runDir = uid === null || uid === 0 ? '/run' : `/run/user/${uid}`;
  const paths =
    name === 'docker'
      ? ['/var/run/docker.sock', `${runDir}/docker.sock`, join(homeDir, '.docker/run/docker.sock')]
      : [`${runDir}/podman/podman.sock`];
  return paths.map((socketPath) => ({ socketPath }));
}

function givenAddress(dockerHost: string): readonly DockerOptions[] {
  if (!URL.canParse(dockerHost)) return [];
  const url = new URL(dockerHost);
  if (url.protocol === 'unix:') return [{ socketPath: url.pathname }];
  if (url.protocol !== 'tcp:' && url.protocol !== 'http:') return [];
  return [{ protocol: 'http', host: url.hostname, port: Number(url.port || 2375) }];
}

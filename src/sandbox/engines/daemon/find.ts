import type Docker from 'dockerode';
import { shortHash } from '../../protocol/socket-folder.ts';
import {
  type EngineContext,
  type EngineFinder,
  type EngineLook,
  EngineUnusable,
} from '../engine.ts';
import { engineAddresses } from './address.ts';
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
  for (const address of engineAddresses(name, { dockerHost, uid, homeDir })) {
    const docker = await pingDocker(address);
    if (docker === null) continue;
    return use(docker).catch((error: unknown) => {
      throw unusable(error);
    });
  }
  throw new EngineUnusable('no daemon answers.');
}

import { homedir } from 'node:os';
import type Docker from 'dockerode';
import type { Settings } from '../config.ts';
import { engineAddresses } from './engines/docker-address.ts';
import { EngineUnusable } from './engines/engine.ts';
import { findImage, type ImageLook } from './engines/image.ts';
import { agentUser } from './mounts/ownership.ts';
import { ENGINES, ownUser } from './open.ts';
import { shortHash } from './protocol/socket-folder.ts';
import type { SandboxEngine } from './sandbox.ts';

/** What agents would run in, were the assistant started now. */
export type SandboxLook = {
  readonly chosen: SandboxEngine | null;
  readonly description: string;
  /** Engines that would have been better, and why they cannot be used. */
  readonly refused: readonly { readonly name: SandboxEngine; readonly reason: string }[];
  /** Null under bubblewrap, which needs none. */
  readonly image: ImageLook | null;
  /** Ids of this installation's containers. */
  readonly containers: readonly string[];
  /** Where the engine keeps images, on this machine or the one that it runs on. */
  readonly rootDir: string | null;
};

type Found = Omit<SandboxLook, 'chosen' | 'refused'>;

/** Asks the engines as a start would, and makes nothing. */
export async function examineSandbox(parts: {
  readonly projectDir: string;
  readonly settings: Settings;
  /** `DOCKER_HOST` of the environment, where it is set. */
  readonly dockerHost: string | null;
}): Promise<SandboxLook> {
  const { sandbox } = parts.settings;
  const refused: { name: SandboxEngine; reason: string }[] = [];
  for (const name of sandbox === null ? ENGINES : [sandbox]) {
    try {
      const found =
        name === 'bubblewrap' ? await lookAtBubblewrap() : await lookAtDaemon(name, parts);
      return { chosen: name, refused, ...found };
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      refused.push({ name, reason: error.message });
    }
  }
  return { chosen: null, refused, description: '', image: null, containers: [], rootDir: null };
}

async function lookAtBubblewrap(): Promise<Found> {
  const { openBubblewrap } = await import('./engines/bubblewrap.ts');
  const user = agentUser(ownUser());
  const isRoot = process.getuid?.() === 0;
  const { description } = await openBubblewrap({ user, isRoot, nodePath: process.execPath });
  return { description, image: null, containers: [], rootDir: null };
}

async function lookAtDaemon(
  name: 'docker' | 'podman',
  { projectDir, settings, dockerHost }: Parameters<typeof examineSandbox>[0],
): Promise<Found> {
  const { ownContainers, pingDocker, unusable } = await import('./engines/docker.ts');
  const uid = process.getuid?.() ?? null;
  for (const address of engineAddresses(name, { dockerHost, uid, homeDir: homedir() })) {
    const docker = await pingDocker(address);
    if (docker === null) continue;
    const look = async (): Promise<Found> => {
      const [{ Version }, info, image, containers] = await Promise.all([
        docker.version(),
        docker.info() as Promise<{ DockerRootDir?: string }>,
        findImage(docker, { projectDir, baseImage: null }),
        ownContainers(docker, shortHash(settings.dataDir)),
      ]);
      const ids = containers.map(({ Id }: Docker.ContainerInfo) => Id);
      const rootDir = info.DockerRootDir ?? null;
      return { description: `${name} ${Version}`, image, containers: ids, rootDir };
    };
    return look().catch((error: unknown) => {
      throw unusable(error);
    });
  }
  throw new EngineUnusable('no daemon answers.');
}

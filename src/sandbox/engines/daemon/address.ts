import { join } from 'node:path';
import type { DockerOptions } from 'dockerode';

export type AddressParts = {
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

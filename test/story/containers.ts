import Docker from 'dockerode';

/** The containers that see a folder of this project, running or not; none where there is no Docker. */
export async function containersOf(root: string): Promise<readonly Docker.Container[]> {
  const docker = new Docker({ socketPath: '/var/run/docker.sock' });
  const all = await docker.listContainers({ all: true }).catch(() => []);
  return all
    .filter(({ Mounts }) => Mounts.some(({ Source }) => Source.startsWith(`${root}/`)))
    .map(({ Id }) => docker.getContainer(Id));
}

/** Removes what an assistant that was killed has left running. */
export async function removeContainersOf(root: string): Promise<void> {
  const left = await containersOf(root);
  await Promise.all(left.map((container) => container.remove({ force: true }).catch(() => {})));
}

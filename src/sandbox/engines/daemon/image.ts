import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { EngineUnusable, type ImageLook } from '../engine.ts';

export const IMAGE_NAME = 'patchclaw-agent';

/** Made by scripts/base-image.ts, for machines that reach no registry. */
const LOCAL_BASE = 'patchclaw-base:bookworm';
const REGISTRY_BASE = 'node:24-slim';

/** All that the image is made of, beside its base. */
const CONTEXT = ['Dockerfile', 'install.mjs', 'packages.json'];
const INPUTS_LABEL = 'patchclaw.inputs';
const PROJECT_LABEL = 'patchclaw.project';

export type ImageParts = {
  readonly projectDir: string;
  readonly instanceId: string;
  readonly baseImage: string | null;
  readonly onProgress: (line: string) => void;
};

/**
 * Finds the agent's image, or builds it.
 *
 * The tag is a digest of all inputs, base included: installations with the same packages share an
 * image, and a changed package list is another image by itself.
 *
 * @returns name and tag
 * @throws EngineUnusable when there is no base to build on, or the build fails
 */
export async function ensureImage(docker: Docker, parts: ImageParts): Promise<string> {
  const base = await ensureBase(docker, parts);
  const contextDir = join(parts.projectDir, 'container');
  const inputs = await inputsDigest(contextDir, base.layers);
  const image = `${IMAGE_NAME}:${inputs}`;
  if ((await imageLayers(docker, image)) !== null) return image;

  parts.onProgress(`building the agent's image on ${base.name}, which happens once`);
  const labels = { [INPUTS_LABEL]: inputs, [PROJECT_LABEL]: parts.instanceId };
  const steps = await docker
    .buildImage(
      { context: contextDir, src: CONTEXT },
      { t: image, buildargs: { BASE: base.name }, labels, rm: true, forcerm: true },
    )
    .catch((error: Error) => {
      throw new EngineUnusable(`The agent's image cannot be built: ${error.message}`);
    });
  await follow(docker, steps, parts.onProgress);
  await removeOlder(docker, parts.instanceId, image);
  return image;
}

/** Looks for the agent's image and its base, and makes neither. */
export async function findImage(
  docker: Docker,
  { projectDir, baseImage }: Pick<ImageParts, 'projectDir' | 'baseImage'>,
): Promise<ImageLook> {
  const base = await findBase(docker, baseImage);
  const wantedBase = baseImage ?? REGISTRY_BASE;
  if (base === null) return { name: null, isThere: false, base: null, wantedBase };
  const inputs = await inputsDigest(join(projectDir, 'container'), base.layers);
  const name = `${IMAGE_NAME}:${inputs}`;
  const isThere = (await imageLayers(docker, name)) !== null;
  return { name, isThere, base: base.name, wantedBase };
}

async function findBase(docker: Docker, baseImage: string | null) {
  for (const name of baseImage === null ? [LOCAL_BASE, REGISTRY_BASE] : [baseImage]) {
    const layers = await imageLayers(docker, name);
    if (layers !== null) return { name, layers };
  }
  return null;
}

async function ensureBase(
  docker: Docker,
  { baseImage, onProgress }: ImageParts,
): Promise<{ name: string; layers: string }> {
  const found = await findBase(docker, baseImage);
  if (found !== null) return found;
  const name = baseImage ?? REGISTRY_BASE;
  onProgress(`fetching ${name}`);
  try {
    await follow(docker, await docker.pull(name), () => {});
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new EngineUnusable(
      `${name} cannot be fetched (${why}); make a base with \`node scripts/base-image.ts\`.`,
    );
  }
  const layers = await imageLayers(docker, name);
  if (layers === null) throw new EngineUnusable(`${name} was fetched and is not there.`);
  return { name, layers };
}

/**
 * Returns the layers of an image, which unlike its id are the same when it is made again; null for no image.
 */
async function imageLayers(docker: Docker, name: string): Promise<string | null> {
  const found = await docker
    .getImage(name)
    .inspect()
    .catch((error: { statusCode?: number }) => {
      if (error.statusCode === 404) return null;
      throw error;
    });
  return found?.RootFS.Layers?.join(' ') ?? null;
}

async function inputsDigest(contextDir: string, baseLayers: string): Promise<string> {
  const hash = createHash('sha256').update(baseLayers);
  for (const name of CONTEXT) hash.update(await readFile(join(contextDir, name)));
  return hash.digest('hex').slice(0, 12);
}

/** Reads a build or a pull to its end, telling its steps; an error among them rejects. */
async function follow(
  docker: Docker,
  stream: NodeJS.ReadableStream,
  onProgress: (line: string) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null, steps: { error?: string }[]) => {
        const failed = steps?.find((step) => step.error !== undefined);
        if (error !== null) reject(new EngineUnusable(error.message));
        else if (failed !== undefined) reject(new EngineUnusable(failed.error ?? 'build failed'));
        else resolve();
      },
      (step: { stream?: string }) => {
        const line = step.stream?.trim() ?? '';
        if (line.startsWith('Step ')) onProgress(line);
      },
    );
  });
}

/** Images of this installation's earlier package lists. One in use stays until the next time. */
async function removeOlder(docker: Docker, instanceId: string, current: string): Promise<void> {
  const filters = { label: [`${PROJECT_LABEL}=${instanceId}`] };
  const found = await docker.listImages({ filters });
  // podman puts the name of a registry before every tag.
  const isCurrent = (tag: string) => tag === current || tag.endsWith(`/${current}`);
  const older = found.filter(({ RepoTags }) => !RepoTags?.some(isCurrent));
  await Promise.all(
    older.map(({ Id }) =>
      docker
        .getImage(Id)
        .remove()
        .catch(() => {}),
    ),
  );
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type Docker from 'dockerode';
import { oneLine } from '../../../model/failure.ts';
import { type BuildMemory, EngineUnusable, type ImageLook } from '../engine.ts';

export const IMAGE_NAME = 'patchclaw-agent';

/** Made by scripts/base-image.ts, for machines that reach no registry. */
const LOCAL_BASE = 'patchclaw-base:bookworm';
const REGISTRY_BASE = 'node:24-slim';

/** All that the image is made of, beside its base. */
const CONTEXT = ['Dockerfile', 'install.mjs', 'packages.json'];
const INPUTS_LABEL = 'patchclaw.inputs';
const PROJECT_LABEL = 'patchclaw.project';

/** The number of lines of a failed build's output that are shown. */
const MOST_LINES = 4;
/** Matches an error line of npm or apt; the group is the text after the word for an error. */
const ERROR_LINE = /^(?:npm (?:error|ERR!)|E:|Err:)\s?(.*)$/;
/** Says nothing to a reader outside of the build: an empty line, a number, the place of a log in there. */
const NO_REASON = /^\s*(?:$|errno |A complete log )/;

export type ImageParts = {
  readonly name: 'docker' | 'podman';
  readonly projectDir: string;
  readonly instanceId: string;
  readonly baseImage: string | null;
  readonly builds?: BuildMemory | undefined;
  readonly onProgress: (line: string) => void;
};

/** An image that agents can run in. */
export type AgentImage = {
  /** Name and tag, or an id. */
  readonly name: string;
  /** Why it is an earlier one and not the one that is wanted; null where it is that. */
  readonly problem: string | null;
};

/**
 * Finds the agent's image, or builds it. Where that fails, such as without a network, an earlier image does: it lacks
 * what was added since, but agents run. A build that failed is not tried again while `builds` remembers it.
 *
 * The tag is a digest of all inputs, base included: installations with the same packages share an
 * image, and a changed package list is another image by itself.
 *
 * @throws EngineUnusable when there is no base to build on, or the build fails and there is no earlier image
 */
export async function ensureImage(docker: Docker, parts: ImageParts): Promise<AgentImage> {
  const base = await ensureBase(docker, parts);
  const contextDir = join(parts.projectDir, 'container');
  const inputs = await inputsDigest(contextDir, base.layers);
  const image = `${IMAGE_NAME}:${inputs}`;
  if ((await imageLayers(docker, image)) !== null) return { name: image, problem: null };
  try {
    await buildOnce(docker, parts, { image, inputs, base: base.name });
  } catch (error) {
    if (!(error instanceof EngineUnusable)) throw error;
    const earlier = await earlierImage(docker, parts.instanceId);
    if (earlier === null) throw error;
    parts.onProgress(`agents run in an earlier image: ${error.message}`);
    return { name: earlier, problem: error.message };
  }
  await removeOlder(docker, parts.instanceId, image);
  return { name: image, problem: null };
}

type Build = { readonly image: string; readonly inputs: string; readonly base: string };

/** Builds an image, unless it failed lately. @throws EngineUnusable with the last words of that build */
async function buildOnce(docker: Docker, parts: ImageParts, build: Build): Promise<void> {
  const { builds, name } = parts;
  // One engine may build what another cannot.
  const what = `${name} ${build.image}`;
  const known = builds?.failureOf(what) ?? null;
  if (known !== null) throw new EngineUnusable(known);
  try {
    await buildImage(docker, parts, build);
  } catch (error) {
    if (!(error instanceof EngineUnusable)) throw error;
    builds?.note(what, error.message);
    throw new EngineUnusable(builds?.failureOf(what) ?? error.message);
  }
  builds?.note(what, null);
}

/** @throws EngineUnusable with the last words of the build */
async function buildImage(
  docker: Docker,
  parts: ImageParts,
  { image, inputs, base }: Build,
): Promise<void> {
  const context = join(parts.projectDir, 'container');
  parts.onProgress(`building the agent's image on ${base}, which happens once`);
  const labels = { [INPUTS_LABEL]: inputs, [PROJECT_LABEL]: parts.instanceId };
  const steps = await docker
    .buildImage(
      { context, src: CONTEXT },
      { t: image, buildargs: { BASE: base }, labels, rm: true, forcerm: true },
    )
    .catch((error: Error) => {
      throw new EngineUnusable(`the agent's image cannot be built: ${error.message}`);
    });
  const said: string[] = [];
  try {
    await follow(docker, steps, (line) => {
      if (line.startsWith('Step ')) parts.onProgress(line);
      else said.push(line);
    });
  } catch (error) {
    throw new EngineUnusable(
      `the agent's image cannot be built: ${lastWords(said) ?? (error as Error).message}`,
    );
  }
}

/** Returns the lines in which a build says what went wrong, on one line; null where it said nothing. */
function lastWords(said: readonly string[]): string | null {
  const lines = said.flatMap((text) => stripVTControlCharacters(text).split('\n'));
  const errors = lines.flatMap((line) => ERROR_LINE.exec(line)?.[1] ?? []);
  const last = (errors.length > 0 ? errors : lines).filter((line) => !NO_REASON.test(line));
  const text = oneLine(last.slice(-MOST_LINES).join('; '));
  return text === '' ? null : text;
}

/** Returns the newest image that was made for agents, rather one of this installation; null for none. */
async function earlierImage(docker: Docker, instanceId: string): Promise<string | null> {
  const found = await docker.listImages({ filters: { label: [INPUTS_LABEL] } });
  const isOwn = ({ Labels }: Docker.ImageInfo) => Labels?.[PROJECT_LABEL] === instanceId;
  const [newest] = found.toSorted(
    (one, other) => Number(isOwn(other)) - Number(isOwn(one)) || other.Created - one.Created,
  );
  return newest?.Id ?? null;
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
      `${name} cannot be fetched (${why}); make a base with \`npx node scripts/base-image.ts\`.`,
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
        if (line !== '') onProgress(line);
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

/**
 * Measures the start of a group's container up to its first frame, beside a bare create and start of its
 * image.
 *
 *     npx node scripts/bench/container.ts
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import type Docker from 'dockerode';
import { bundleAgent } from '../../src/sandbox/agent-link/bundle.ts';
import { WarmAgent, type WarmAgentParts } from '../../src/sandbox/agent-link/warm-agent.ts';
import { openDocker, pingDocker } from '../../src/sandbox/engines/daemon/daemon.ts';
import { ensureImage } from '../../src/sandbox/engines/daemon/image.ts';
import { groupMounts, writableFolders } from '../../src/sandbox/mounts/mounts.ts';
import { agentUser, giveFolder } from '../../src/sandbox/mounts/ownership.ts';
import { makeSocketFolder, shortHash } from '../../src/sandbox/protocol/socket-folder.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

export type ContainerBench = {
  readonly runs: number;
  /** Medians in milliseconds. */
  readonly readyMs: number;
  readonly bareMs: number;
  readonly ratio: number;
};

if (import.meta.main) printContainer(await benchContainer(10));

/** Prints a measurement as one line. */
export function printContainer(found: ContainerBench | null): void {
  if (found === null) {
    console.log('container: skipped, no Docker daemon answers');
    return;
  }
  const { runs, readyMs, bareMs, ratio } = found;
  console.log(
    `container: start to first frame ${readyMs.toFixed(0)} ms, bare create+start ` +
      `${bareMs.toFixed(0)} ms, ratio ${ratio.toFixed(2)} (medians of ${runs})`,
  );
}

/** Measures both interleaved, so that a busy machine slows both. Null if no Docker daemon answers. */
export async function benchContainer(runs: number): Promise<ContainerBench | null> {
  const docker = await pingDocker({ socketPath: '/var/run/docker.sock' });
  if (docker === null) return null;
  const work = await mkdtemp(join(tmpdir(), 'claw-bench-'));
  try {
    const { parts, image } = await prepare(docker, work);
    const ready: number[] = [];
    const bare: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      ready.push(await timeAgent(parts));
      bare.push(await timeBare(docker, image));
    }
    const [readyMs, bareMs] = [median(ready), median(bare)];
    return { runs, readyMs, bareMs, ratio: readyMs / bareMs };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function prepare(
  docker: Docker,
  work: string,
): Promise<{ parts: WarmAgentParts; image: string }> {
  const folder = 'bench';
  const user = agentUser({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  const engineParts = {
    instanceId: shortHash(work),
    name: 'docker' as const,
    projectDir: PROJECT,
    dataDir: work,
    baseImage: null,
    onProgress: () => {},
  };
  const { name: image } = await ensureImage(docker, engineParts);
  const engine = await openDocker({ ...engineParts, docker, name: 'docker', user });
  const bundle = await bundleAgent(PROJECT, work);
  const places = {
    projectDir: work,
    dataDir: work,
    folder,
    isMain: false,
    socketDir: await makeSocketFolder({ dataDir: work, folder, socketDir: null, user }),
    bundle,
    bundleFiles: await readdir(bundle),
  };
  const folders = Object.values(writableFolders(places));
  for (const path of [...folders, join(work, 'groups/global')]) await giveFolder(path, user);
  const model = {
    provider: 'anthropic',
    model: 'none',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: null,
  } as const;
  const { socketDir } = places;
  const mounts = groupMounts(places, new Set());
  for (const { source } of mounts)
    if (!existsSync(source)) await mkdir(source, { recursive: true });
  const parts = {
    engine,
    folder,
    mounts,
    socketDir,
    user,
    model,
    modelTimeoutMs: 1_000,
    timeZone: 'UTC',
  };
  return { parts, image };
}

async function timeAgent(parts: WarmAgentParts): Promise<number> {
  const before = performance.now();
  const agent = await WarmAgent.start(parts);
  const tookMs = performance.now() - before;
  await agent.stop();
  return tookMs;
}

async function timeBare(docker: Docker, image: string): Promise<number> {
  const before = performance.now();
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ['sleep', '60'],
    HostConfig: { NetworkMode: 'none' },
  });
  await container.start();
  const tookMs = performance.now() - before;
  await container.remove({ force: true });
  return tookMs;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper;
}

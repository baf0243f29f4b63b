import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FarRefused, type FarState } from './far-state.ts';

/** What `claw far setup --docker` takes without a name. */
export const NATS_IMAGE = 'nats:2';
/** The first use fetches the image. */
const FETCH_TIMEOUT_MS = 600_000;
const ANSWER_TIMEOUT_MS = 20_000;

/** Returns the command that runs the server in a container until it is signalled. It has the rights of the assistant's user. */
export async function containerCommand(state: FarState, image: string): Promise<readonly string[]> {
  const { dir, configPath } = state;
  const { port } = state.read();
  const jetStream = join(dir, 'jetstream');
  return [
    ...['docker', 'run', '--rm', '--name', containerName(state), '--user', await userInside()],
    ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--publish', `${port}:${port}`, '--log-driver', 'none'],
    // The same paths on both sides, since the server's file names them.
    ...['--volume', `${dir}:${dir}:ro`, '--volume', `${jetStream}:${jetStream}`],
    ...[image, '-c', configPath],
  ];
}

/** Removes the container of an assistant that was killed. */
export async function removeContainer(state: FarState): Promise<void> {
  // Where Docker does not answer, the start says so.
  await docker(['rm', '--force', containerName(state)]).catch(() => {});
}

/**
 * Fetches the image where it is not there, and asks it for its version.
 *
 * @throws FarRefused where Docker cannot run it, or it is no NATS server
 */
export async function checkImage(image: string): Promise<string> {
  let said: string;
  try {
    said = await docker(['run', '--rm', '--network', 'none', image, '-v'], FETCH_TIMEOUT_MS);
  } catch (error) {
    throw new FarRefused(
      `Docker cannot run ${image}: ${reasonOf(error)}. Name another image (\`--docker nats:2\`), or install nats-server and leave --docker out.`,
    );
  }
  const [version] = /nats-server: v\S+/.exec(said) ?? [];
  if (version === undefined) throw new FarRefused(`${image} holds no NATS server.`);
  return version;
}

/** Returns why Docker does not answer; null where it does. */
export async function dockerProblem(): Promise<string | null> {
  return await docker(['version', '--format', '{{.Server.Version}}']).then(() => null, reasonOf);
}

/** One for each installation on this machine. */
export function containerName({ dir }: FarState): string {
  return `patchclaw-far-${createHash('sha256').update(dir).digest('hex').slice(0, 8)}`;
}

/** Rootless Docker maps root inside to its owner outside. */
async function userInside(): Promise<string> {
  const options = await docker(['info', '--format', '{{.SecurityOptions}}']).catch(() => '');
  if (options.includes('name=rootless')) return '0:0';
  return `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`;
}

async function docker(words: readonly string[], timeout = ANSWER_TIMEOUT_MS): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', words, { timeout });
  return stdout;
}

function reasonOf(error: unknown): string {
  const { code, stderr, message } = error as Error & { code?: unknown; stderr?: string };
  if (code === 'ENOENT') return 'the `docker` command is not installed';
  return (stderr?.trim().split('\n').at(0) || message).slice(0, 300);
}

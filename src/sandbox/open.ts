import { homedir } from 'node:os';
import { oneLine } from '../model/failure.ts';
import { bundleAgent } from './agent/bundle.ts';
import { engineAddresses } from './engines/docker-address.ts';
import { type Engine, type EngineParts, EngineUnusable } from './engines/engine.ts';
import { watchedEngine } from './engines/watched-engine.ts';
import { GroupSandbox } from './group-sandbox.ts';
import { type AgentUser, agentUser } from './mounts/ownership.ts';
import { shortHash } from './protocol/socket-folder.ts';
import type { SandboxEngine, SandboxOptions, SandboxReady, SandboxUnavailable } from './sandbox.ts';

/** Best first. */
export const ENGINES: readonly SandboxEngine[] = ['docker', 'podman', 'bubblewrap'];

/**
 * Opens the sandbox on the best engine that works here, found by asking each.
 *
 * Makes what is missing (the agent's bundle, its image), and removes containers that a killed host of
 * the same data folder left behind. Never rejects because of the machine: where no engine works,
 * the advice says what to install.
 */
export async function openSandbox(
  options: SandboxOptions,
): Promise<SandboxReady | SandboxUnavailable> {
  const { settings, onProgress } = options;
  const user = agentUser(ownUser());
  const reasons: string[] = [];
  for (const name of settings.sandbox === null ? ENGINES : [settings.sandbox]) {
    try {
      if (settings.sandbox === null && isWeaker(name, options.least ?? null)) {
        await openEngine(name, options, user);
        return { kind: 'unavailable', advice: weaker(name, reasons), needsWord: true };
      }
      const engine = await openEngine(name, options, user);
      if (reasons.length > 0) onProgress(`agents run under ${name}: ${reasons.join(' ')}`);
      return await readySandbox(engine, options, user);
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      reasons.push(`${name}: ${error.message}`);
    }
  }
  return { kind: 'unavailable', advice: installAdvice(settings.sandbox, reasons) };
}

/** An agent that cannot be built, such as by a change to its source, must not keep the host from starting. */
async function readySandbox(
  engine: Engine,
  options: SandboxOptions,
  user: AgentUser,
): Promise<SandboxReady | SandboxUnavailable> {
  try {
    const bundle = await bundleAgent(options.projectDir, options.settings.dataDir);
    const watched = watchedEngine(engine, options.onContainer);
    return { kind: 'ready', sandbox: new GroupSandbox({ engine: watched, options, user, bundle }) };
  } catch (error) {
    const why = error instanceof Error ? oneLine(error.message) : String(error);
    return { kind: 'unavailable', advice: `The agent in container/agent cannot be built: ${why}.` };
  }
}

/** Who this process is; null where the system has no numbers for it. */
export function ownUser(): AgentUser | null {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  return uid === undefined || gid === undefined ? null : { uid, gid };
}

async function openEngine(
  name: SandboxEngine,
  options: SandboxOptions,
  user: AgentUser,
): Promise<Engine> {
  if (name !== 'bubblewrap') return openDaemon(name, options, user);
  const { openBubblewrap } = await import('./engines/bubblewrap.ts');
  const isRoot = process.getuid?.() === 0;
  return openBubblewrap({ user, isRoot, nodePath: process.execPath });
}

async function openDaemon(
  name: 'docker' | 'podman',
  options: SandboxOptions,
  user: AgentUser,
): Promise<Engine> {
  const { openDocker, pingDocker, unusable } = await import('./engines/docker.ts');
  const uid = process.getuid?.() ?? null;
  const dockerHost = options.dockerHost ?? null;
  const parts: EngineParts = {
    instanceId: shortHash(options.settings.dataDir),
    projectDir: options.projectDir,
    baseImage: options.baseImage ?? null,
    onProgress: options.onProgress,
  };
  for (const address of engineAddresses(name, { dockerHost, uid, homeDir: homedir() })) {
    const docker = await pingDocker(address);
    if (docker === null) continue;
    return openDocker({ ...parts, docker, name, user }).catch((error: unknown) => {
      throw unusable(error);
    });
  }
  throw new EngineUnusable('no daemon answers.');
}

/** Docker and podman hold a whole container to its limits; bubblewrap only each process. */
export function isWeaker(engine: SandboxEngine, least: SandboxEngine | null): boolean {
  return engine === 'bubblewrap' && least !== null && least !== 'bubblewrap';
}

function weaker(engine: SandboxEngine, reasons: readonly string[]): string {
  return (
    `Agents ran in a stronger sandbox before (${reasons.join(' ')}), so none runs now. ` +
    `Start that again and say \`/retry\`, or say \`/sandbox ${engine}\` to let them run in ${engine}, ` +
    'which limits memory only for each process.'
  );
}

/** Says what to install or start for an engine, or for the best one. */
export function installAdvice(wanted: SandboxEngine | null, reasons: readonly string[]): string {
  const other = 'Or take CLAW_SANDBOX out of .env: then the best one that is here is used.';
  return wanted === null
    ? `To run agents, ${INSTALL.docker} or ${INSTALL.bubblewrap}. Found: ${reasons.join('; ')}`
    : `CLAW_SANDBOX is ${wanted}, which cannot be used here (${reasons.join('; ')}). To use it, ${INSTALL[wanted]}. ${other}`;
}

/** How each engine is got and started, as part of a sentence. */
const INSTALL: Readonly<Record<SandboxEngine, string>> = {
  docker:
    'install Docker (Debian: `sudo apt install docker.io`; macOS: Docker Desktop) and start it',
  podman:
    'install podman (Debian: `sudo apt install podman`) and start its service: `systemctl --user start podman.socket`, as root without `--user`',
  bubblewrap: 'install bubblewrap (Debian: `sudo apt install bubblewrap`)',
};

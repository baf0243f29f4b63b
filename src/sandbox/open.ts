import { oneLine } from '../model/failure.ts';
import { bundleAgent } from './agent-link/bundle.ts';
import {
  discoverEngines,
  type Engine,
  type EngineContribution,
  type EngineFinder,
  EngineUnusable,
  isWeaker,
} from './engines/engine.ts';
import { GroupSandbox } from './group-sandbox.ts';
import { type AgentUser, agentUser } from './mounts/ownership.ts';
import type { SandboxOptions, SandboxReady, SandboxUnavailable } from './sandbox.ts';

/**
 * Opens the sandbox on the best engine that works here, found by asking each.
 *
 * Makes what is missing (the agent's bundle, its image), and removes containers that a killed host of the same data
 * folder left behind. Never rejects because of the machine: if no engine works, the advice says what to install.
 */
export async function openSandbox(
  options: SandboxOptions,
): Promise<SandboxReady | SandboxUnavailable> {
  const { settings, onProgress } = options;
  const engines = options.engines ?? (await discoverEngines());
  const user = agentUser(ownUser());
  const reasons: string[] = [];
  for (const { name, find } of findersOf(engines, options)) {
    try {
      const engine = await find().open();
      if (settings.sandbox === null && isWeaker(engines, name, options.least ?? null)) {
        return { kind: 'unavailable', advice: weaker(name, reasons), needsWord: true };
      }
      if (reasons.length > 0) onProgress(`agents run under ${name}: ${reasons.join('; ')}`);
      return await readySandbox(engine, options, user);
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      reasons.push(`${name}: ${error.message}`);
    }
  }
  return { kind: 'unavailable', advice: installAdvice(engines, settings.sandbox, reasons) };
}

/**
 * Makes the sandbox ready. An agent that cannot be built, such as after a change to its source, must not
 * keep the host from starting.
 */
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

const CONTAINER_ID_LENGTH = 12;

/** Returns the same engine, telling of each container when it runs and when it is gone. */
function watchedEngine(engine: Engine, onContainer: SandboxOptions['onContainer']): Engine {
  if (onContainer === undefined) return engine;
  return {
    ...engine,
    async startContainer(spec) {
      const container = await engine.startContainer(spec);
      // As the engine's own lists show it.
      const id = container.id.slice(0, CONTAINER_ID_LENGTH);
      onContainer(spec.folder, { kind: 'started', id });
      void container.ended.then((reason) =>
        onContainer(spec.folder, { kind: 'ended', id, reason }),
      );
      return container;
    },
  };
}

/** Returns the user of this process; null if the system has no numbers for users. */
export function ownUser(): AgentUser | null {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  return uid === undefined || gid === undefined ? null : { uid, gid };
}

type FinderOptions = Pick<
  SandboxOptions,
  'projectDir' | 'settings' | 'homeDir' | 'environment' | 'baseImage' | 'builds'
> & {
  readonly onProgress?: SandboxOptions['onProgress'];
};

/** Returns the finders of the engines that may run agents, best first: all of them, or the configured one. */
export function findersOf(
  engines: readonly EngineContribution[],
  options: FinderOptions,
): readonly { readonly name: string; readonly find: () => EngineFinder }[] {
  const { projectDir, settings, homeDir, environment = {}, baseImage = null } = options;
  const wanted = settings.sandbox;
  return engines
    .filter(({ name }) => wanted === null || name === wanted)
    .toSorted((one, other) => one.order - other.order)
    .map((engine) => ({
      name: engine.name,
      find() {
        const opened = engine.open(environment, {
          projectDir,
          dataDir: settings.dataDir,
          user: agentUser(ownUser()),
          uid: process.getuid?.() ?? null,
          homeDir,
          nodePath: process.execPath,
          baseImage,
          builds: options.builds,
          onProgress: options.onProgress ?? (() => {}),
        });
        if (opened.kind === 'made') return opened.value;
        const wrong = opened.wrong.map(({ name, problem }) => `${name} ${problem}`).join('; ');
        throw new EngineUnusable(`${wrong}.`);
      },
    }));
}

function weaker(engine: string, reasons: readonly string[]): string {
  return (
    `Agents ran in a stronger sandbox before (${reasons.join('; ')}), so none runs now. ` +
    `Start that again and say \`/retry\`, or say \`/sandbox ${engine}\` to let them run in ${engine}, ` +
    'which limits memory only for each process.'
  );
}

/** Says what to install or start for an engine, or for the best ones. */
export function installAdvice(
  engines: readonly EngineContribution[],
  wanted: string | null,
  reasons: readonly string[],
): string {
  if (wanted === null) return `To run agents, ${waysTo(engines)}. Found: ${reasons.join('; ')}`;
  const engine = engines.find(({ name }) => name === wanted);
  const other = 'Or take CLAW_SANDBOX out of .env: then the best one that is here is used.';
  if (engine === undefined)
    return `CLAW_SANDBOX is ${wanted}, which no engine here is called. ${other}`;
  return `CLAW_SANDBOX is ${wanted}, which cannot be used here (${reasons.join('; ')}). To use it, ${engine.install}. ${other}`;
}

/** Names the best engine that limits a whole container, and the best of the others. */
function waysTo(engines: readonly EngineContribution[]): string {
  const ways = (['container', 'process'] as const).flatMap(
    (limits) => engines.find((engine) => engine.limits === limits)?.install ?? [],
  );
  return ways.join(', or ');
}

import type { Settings } from './config.ts';
import type { HostLog } from './host/contracts/log.ts';
import { type LazySandbox, lazySandbox } from './host/turns/agent/lazy-sandbox.ts';
import type { Environment } from './lib/settings.ts';
import type { BuildMemory, EngineContribution } from './sandbox/engines/engine.ts';
import type { MachinesContribution } from './sandbox/machines/machines.ts';
import type { Engines } from './store/engines.ts';
import type { Store } from './store/store.ts';

/** What a build needs may be back by then, such as the network. */
const RETRY_MINUTES = 15;

export type AgentsSandboxOptions = {
  readonly projectDir: string;
  readonly settings: Settings;
  readonly homeDir: string;
  readonly environment: Environment;
  readonly engines: readonly EngineContribution[];
  readonly machines: readonly MachinesContribution[];
  readonly store: Store;
  readonly log: HostLog;
  readonly now: () => number;
  readonly onFileConflict: (folder: string, text: string) => void;
  readonly onMachineTrouble: (text: string) => void;
  /** Why no agent may run, such as a setting that is wrong; null for no reason. */
  readonly obstacle: string | null;
};

/** Creates the agents' sandbox, which is opened when it is first needed; the store notes how that went. */
export function createAgentsSandbox(options: AgentsSandboxOptions): LazySandbox {
  const { projectDir, settings, homeDir, environment, engines, store, log, now, obstacle } =
    options;
  store.engines.forgetState();
  return lazySandbox(async () => {
    if (obstacle !== null) return { kind: 'unavailable', advice: obstacle };
    const { openSandbox } = await import('./sandbox/open.ts');
    const opened = await openSandbox({
      projectDir,
      settings,
      homeDir,
      least: store.engines.least(),
      engines,
      machines: options.machines,
      places: store.places,
      onFileConflict: options.onFileConflict,
      onMachineTrouble: options.onMachineTrouble,
      environment,
      builds: buildMemory(store.engines, now),
      elapsed: () => performance.now(),
      now: Date.now,
      onProgress: (line) => log.info(line),
      onContainer: (group, { kind, ...data }) =>
        log.info(`a container ${kind}`, { group, ...data }),
    });
    store.engines.note(
      opened.kind === 'ready'
        ? { kind: 'ready', engine: opened.sandbox.engine, description: opened.sandbox.description }
        : opened,
    );
    return opened;
  });
}

/** Remembers the last build of the agents' image that failed, for a while or until its image would be another one. */
function buildMemory(engines: Engines, now: () => number): BuildMemory {
  return {
    failureOf(image) {
      const failed = engines.failedBuild();
      const ageMs = failed === null ? -1 : now() - failed.at;
      // After the clock was set back, nobody knows how long ago that was.
      if (failed?.image !== image || ageMs < 0 || ageMs >= RETRY_MINUTES * 60_000) return null;
      return `${failed.problem}; a start within ${RETRY_MINUTES} minutes does not try it again, \`/sandbox build\` does`;
    },
    note(image, problem) {
      engines.noteFailedBuild(problem === null ? null : { image, problem, at: now() });
    },
  };
}

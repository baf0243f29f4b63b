import type { Settings } from './config.ts';
import type { HostLog } from './host/contracts/log.ts';
import { type LazySandbox, lazySandbox } from './host/turns/agent/lazy-sandbox.ts';
import type { Environment } from './lib/settings.ts';
import type { EngineContribution } from './sandbox/engines/engine.ts';
import type { Store } from './store/store.ts';

export type AgentsSandboxOptions = {
  readonly projectDir: string;
  readonly settings: Settings;
  readonly homeDir: string;
  readonly environment: Environment;
  readonly engines: readonly EngineContribution[];
  readonly store: Store;
  readonly log: HostLog;
  /** Why no agent may run, such as a setting that is wrong; null for no reason. */
  readonly obstacle: string | null;
};

/** Creates the agents' sandbox, which is opened when it is first needed; the store notes how that went. */
export function createAgentsSandbox(options: AgentsSandboxOptions): LazySandbox {
  const { projectDir, settings, homeDir, environment, engines, store, log, obstacle } = options;
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
      environment,
      elapsed: () => performance.now(),
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

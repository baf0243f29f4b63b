import type { Frame } from '../../channels/channel.ts';
import { TIMED_OUT, withTimeout } from '../../lib/timeout.ts';
import type { KeptReaction } from '../../store/store.ts';
import type { HostLog } from '../contracts/log.ts';
import type {
  Delivery,
  EndedTurn,
  RunningService,
  ServiceContext,
  StartService,
} from '../contracts/service.ts';
import type { ServiceCaller } from '../contracts/service-call.ts';
import type { Tool } from '../contracts/tool.ts';
import type { SetTimer } from '../scheduler/alarm.ts';

/** The state of a service. */
export type ServiceState =
  | { readonly kind: 'starting' | 'running' | 'stopped' }
  | { readonly kind: 'failed'; readonly reason: string; readonly againAt: number };

export interface SupervisedService {
  readonly name: string;
  start(): void;
  state(): ServiceState;
  /** Returns what the service says of itself; null for nothing. */
  detail(): string | null;
  /** Asks the service what becomes of its turn; null where it does not say. */
  turnEnded(turn: EndedTurn): Delivery | null;
  /** Returns the tools that the service offers now; none while it does not run. */
  tools(): readonly Tool[];
  /** Waits until the service knows its tools, or does not run, or for the abort. @returns sentences on missing ones */
  toolsReady(folder: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Lets the service answer. @throws Error where it does not run, or takes no calls */
  call(request: unknown, caller: ServiceCaller): unknown;
  /** Tells the service of a reaction. */
  reacted(reaction: KeptReaction): void;
  /** Offers the service a frame; true where it takes it. */
  takeFrame(frame: Frame): boolean;
  /** Tells the service whether a channel is connected. */
  linkChanged(channel: string, isConnected: boolean): void;
  /** Ends it for good, in a bounded time. */
  stop(): Promise<void>;
}

export type SuperviseOptions = {
  readonly name: string;
  readonly start: StartService;
  /** Makes the context of one run, beside what supervision adds to it. */
  readonly contextOf: (
    run: Pick<ServiceContext, 'signal' | 'setTimer' | 'crash'>,
  ) => ServiceContext;
  readonly now: () => number;
  readonly setTimer: SetTimer;
  readonly log: HostLog;
  /** The longest that a service's end may take, in milliseconds. */
  readonly closeMs: number;
  readonly onState: (state: ServiceState) => void;
  /** The channels that are connected now. */
  readonly connected: () => readonly string[];
};

const START_LIMIT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
/** After running for so long, the next crash counts as the first. */
const STEADY_MS = 300_000;

type Run = {
  readonly ending: AbortController;
  readonly timers: Set<() => void>;
  readonly startedAt: number;
  service: RunningService | null;
};

/**
 * Keeps one service running. What fails to start or crashes is stopped, and started again after a pause
 * that doubles with each failure; nothing else is touched by that.
 */
export function superviseService(options: SuperviseOptions): SupervisedService {
  const { name, log, now } = options;
  let current: Run | null = null;
  let state: ServiceState = { kind: 'stopped' };
  let pauseMs = FIRST_PAUSE_MS;
  let isStopped = false;
  let cancelAgain = (): void => {};
  /** Told when the state is another. */
  const watching = new Set<() => void>();

  function become(next: ServiceState): void {
    state = next;
    options.onState(next);
    for (const tell of watching) tell();
  }

  async function started(signal: AbortSignal): Promise<void> {
    while (state.kind === 'starting' && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      watching.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      watching.delete(resolve);
    }
  }

  async function begin(): Promise<void> {
    const run: Run = {
      ending: new AbortController(),
      timers: new Set(),
      startedAt: now(),
      service: null,
    };
    current = run;
    become({ kind: 'starting' });
    const setTimer = timersOf(run);
    const cancelLimit = setTimer(START_LIMIT_MS, () => {
      throw new Error('it did not start within 30 seconds');
    });
    try {
      const crash = (error: unknown): void => void fail(run, error);
      const context = options.contextOf({ signal: run.ending.signal, setTimer, crash });
      const service = await options.start(context);
      cancelLimit();
      // It was given up or stopped while it started.
      if (current !== run) return await end(service);
      run.service = service;
      become({ kind: 'running' });
      for (const channel of options.connected()) linkChanged(channel, true);
    } catch (error) {
      await fail(run, error);
    }
  }

  /** Timers end with their run, and an error in one is a crash of it. */
  function timersOf(run: Run): SetTimer {
    return (delayMs, onElapsed) => {
      const cancel = options.setTimer(delayMs, () => {
        run.timers.delete(cancel);
        try {
          const ended: unknown = onElapsed();
          if (ended instanceof Promise) ended.catch((error: unknown) => fail(run, error));
        } catch (error) {
          void fail(run, error);
        }
      });
      run.timers.add(cancel);
      return () => {
        run.timers.delete(cancel);
        cancel();
      };
    };
  }

  async function fail(run: Run, error: unknown): Promise<void> {
    if (current !== run || isStopped) return;
    const reason = error instanceof Error ? error.message : String(error);
    if (now() - run.startedAt >= STEADY_MS) pauseMs = FIRST_PAUSE_MS;
    const delayMs = pauseMs;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    log.error('a service failed', { service: name, error: reason, againMs: delayMs });
    const ended = leave(run);
    become({ kind: 'failed', reason, againAt: now() + delayMs });
    await ended;
    if (!isStopped) cancelAgain = options.setTimer(delayMs, () => void begin());
  }

  function leave(run: Run): Promise<void> {
    current = null;
    for (const cancel of run.timers) cancel();
    run.timers.clear();
    run.ending.abort();
    return run.service === null ? Promise.resolve() : end(run.service);
  }

  async function end(service: RunningService): Promise<void> {
    const stopping = Promise.resolve().then(() => service.stop());
    const ended = await withTimeout(stopping, options.closeMs).catch((error: unknown) => {
      log.warn('a service did not end as it should', { service: name, error: String(error) });
    });
    if (ended === TIMED_OUT) log.warn('a service did not end in time', { service: name });
  }

  function linkChanged(channel: string, isConnected: boolean): void {
    try {
      current?.service?.onLink?.(channel, isConnected);
    } catch (error) {
      log.error('a service broke on a link', { service: name, error: String(error) });
    }
  }

  return {
    name,
    linkChanged,
    takeFrame(frame) {
      try {
        return current?.service?.onFrame?.(frame) === true;
      } catch (error) {
        log.error('a service broke on a frame', { service: name, error: String(error) });
        return true;
      }
    },
    start: () => void begin(),
    state: () => state,
    detail() {
      try {
        return current?.service?.status() ?? null;
      } catch (error) {
        return `its status cannot be told: ${String(error)}`;
      }
    },
    tools: () => current?.service?.tools?.() ?? [],
    async toolsReady(folder, signal) {
      await started(signal);
      try {
        return (await current?.service?.toolsReady?.(folder, signal)) ?? [];
      } catch (error) {
        log.error('a service broke on a turn that waits for its tools', {
          service: name,
          error: String(error),
        });
        return [];
      }
    },
    call(request, caller) {
      const service = current?.service;
      if (service?.onCall === undefined) throw new Error(`The service ${name} does not run now.`);
      return service.onCall(request, caller);
    },
    turnEnded(turn) {
      try {
        return current?.service?.onTurnEnd?.(turn) ?? null;
      } catch (error) {
        log.error('a service broke on the end of a turn', { service: name, error: String(error) });
        return null;
      }
    },
    reacted(reaction) {
      try {
        current?.service?.onReaction?.(reaction);
      } catch (error) {
        log.error('a service broke on a reaction', { service: name, error: String(error) });
      }
    },
    async stop() {
      isStopped = true;
      cancelAgain();
      if (current !== null) await leave(current);
      become({ kind: 'stopped' });
    },
  };
}

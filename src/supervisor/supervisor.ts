import { compositionOf } from '../lib/composition.ts';
import { type Client, openClients } from './clients.ts';
import type { OwnerConsole } from './console/owner-console.ts';
import type { Shell, ShellEvents } from './control/server.ts';
import { countCrashes } from './crashes.ts';
import { type Environment, withoutSecrets } from './environment.ts';
import { finishInterrupted } from './finish-interrupted.ts';
import type { FirstChecks } from './first-checks.ts';
import { EXIT_UNUSABLE } from './frames.ts';
import { type Lines, openLines } from './lines.ts';
import type { Log } from './log/log.ts';
import { lastHealthyOf } from './rollback/last-healthy.ts';
import { reasonFor } from './rollback/reason.ts';
import { rollBack } from './rollback/rollback.ts';
import { type Run, type RunEnd, runAssistant } from './run.ts';
import { admitShell } from './shell-client.ts';
import { healthyLimit, type Timing } from './timing.ts';

export type SupervisorOptions = {
  readonly projectDir: string;
  readonly dataDir: string;
  readonly nodePath: string;
  readonly mainPath: string;
  readonly clawPath: string;
  /** Called before each start, so that a changed `.env` counts. */
  readonly readEnvironment: () => Environment;
  readonly ownerConsole: OwnerConsole;
  readonly log: Log;
  /** Takes secrets out of what the assistant prints. */
  readonly scrub: (text: string) => string;
  readonly runId: string;
  readonly now: () => number;
  readonly timing: Timing;
  readonly firstChecks: FirstChecks;
};

/** One Ctrl-C comes twice where npm passes on what the terminal has sent to both. */
const ONE_KEY_MS = 500;

export interface Supervisor {
  /** Runs assistants until the owner leaves or they cannot be kept up; the exit code. */
  run(): Promise<number>;
  /** Lets the assistant finish, and ends. */
  end(): void;
  /** Does the same at first; the second time, ends the assistant at once. */
  interrupt(): void;
  /** Admits a connected shell as a client. */
  admit(shell: Shell): ShellEvents;
}

/**
 * Keeps the assistant running on the tree as it is, and takes a published tree back that does not
 * come up in time. Only a tree that was published since the last healthy start is taken back: without
 * `data/last-healthy.json`, as before a first healthy start, none is. Knows the frames and the `claw`
 * command, and nothing that a skill can change.
 */
export function openSupervisor(options: SupervisorOptions): Supervisor {
  const { projectDir, dataDir, ownerConsole, log, now, timing } = options;
  const healthy = lastHealthyOf(dataDir);
  const crashes = countCrashes(timing.crashPauseMs);
  const ending = new AbortController();
  let endingSince = 0;
  let run: Run | null = null;
  let hasGreeted = false;
  let isInputOver = false;
  let rolledBack: string | null = null;

  const clients = openClients(() => lines);
  const lines: Lines = openLines({
    runId: options.runId,
    now,
    onChange() {
      clients.refresh();
      if (isInputOver && (lines.isIdle() || ownerConsole.isInteractive)) end();
    },
  });

  const owner: Client = {
    ...ownerConsole,
    isOneByOne: !ownerConsole.isInteractive,
    progress: ownerConsole.print,
    // Piped lines follow by themselves; on a terminal the question is there to be read.
    asked: () => {},
    isWatching: true,
  };
  clients.join(owner);

  function end(): void {
    if (!ending.signal.aborted) endingSince = now();
    ending.abort();
    run?.stop();
  }

  const complete = async (typed: string): Promise<readonly string[]> =>
    (await run?.complete(typed)) ?? [];

  function interrupt(): void {
    const isInsistent = ending.signal.aborted && now() - endingSince > ONE_KEY_MS;
    if (isInsistent) run?.kill();
    else end();
  }

  function startRun(composition: string, isPublished: boolean): Run {
    const startedAt = now();
    return runAssistant({
      ...options,
      environment: options.readEnvironment(),
      lines,
      clients,
      start: {
        kind: 'start',
        isInteractive: ownerConsole.isInteractive,
        awaiting: lines.awaiting(),
        rolledBack,
        composition,
      },
      greets: !hasGreeted,
      healthyMs: isPublished ? healthyLimit(timing, healthy.startMs()) : null,
      stopMs: timing.stopMs,
      livenessMs: timing.livenessMs,
      onPrompt(prompt) {
        hasGreeted = true;
        ownerConsole.open(prompt, {
          onLine: (text) => lines.add(owner, text),
          complete,
          onEnd,
        });
      },
      onHealthy() {
        healthy.record(composition, now() - startedAt);
        rolledBack = null;
        options.firstChecks.startLater();
      },
    });
  }

  function onEnd(): void {
    isInputOver = true;
    lines.end();
  }

  /** Returns the exit code when there is nothing more to do, or null to start again. */
  async function afterRun(last: RunEnd, isPublished: boolean): Promise<number | null> {
    if (ending.signal.aborted) return 0;
    if (last.wantsRestart) return null;
    const { exitCode, signal, isLate, isHung, lastLines } = last;
    const level = exitCode === EXIT_UNUSABLE ? 'info' : 'error';
    log[level]('the assistant ended', { exitCode, signal, isLate, isHung });
    // Goes to the file alone: the terminal has shown these lines.
    log.info('what it said last', { lastLines });
    if (isPublished && !last.wasHealthy) {
      clients.setPhase('Taking the change back');
      return await takeBack(last);
    }
    if (exitCode === EXIT_UNUSABLE) {
      const what = last.wasHealthy ? 'has stopped and is not started again' : 'cannot start';
      clients.tellShells([`The assistant ${what}:`, ...lastLines].join('\n'), owner);
      // A terminal has just shown why.
      if (ownerConsole.isInteractive) return giveUp(`It ${what}.`, { ...last, lastLines: [] });
      return giveUp(`The assistant ${what}:`, last);
    }
    const pauseMs = crashes.next(now());
    if (pauseMs === null) {
      return giveUp(
        'The assistant ended five times within a minute and is not started again:',
        last,
      );
    }
    const what = isHung ? 'did not answer any more' : 'ended unexpectedly';
    ownerConsole.notice(`The assistant ${what}. Starting it again.`);
    await pause(pauseMs, ending.signal);
    return null;
  }

  async function takeBack(last: RunEnd): Promise<number | null> {
    const environment = withoutSecrets(options.readEnvironment());
    const result = await rollBack({ ...options, environment });
    if (!result.ok) {
      log.error('the change could not be taken back', { message: result.message });
      return giveUp(
        `The changed assistant does not come up, and taking the change back failed: ${result.message}`,
        last,
      );
    }
    // Only what was just published is ever taken back, so one failure cannot undo a whole history.
    rolledBack = reasonFor(last, healthyLimit(timing, healthy.startMs()));
    healthy.record(compositionOf(projectDir), 0);
    log.warn('a published tree did not come up and was taken back');
    return null;
  }

  function giveUp(title: string, { lastLines }: RunEnd): number {
    const last = lastLines.length === 0 ? [] : ['', '```', ...lastLines, '```'];
    ownerConsole.print([title, ...last].join('\n'));
    return 1;
  }

  return {
    end,
    admit: (shell) => admitShell(shell, { lines, clients, complete }),
    interrupt,
    async run() {
      for (;;) {
        if (ending.signal.aborted) return 0;
        const left = finishInterrupted(projectDir, log);
        if (left !== null) ownerConsole.notice(left);
        // Noted before it loads: a command in a shell may publish other code meanwhile.
        const composition = compositionOf(projectDir);
        const isPublished = healthy.isPublishedSince(composition);
        run = startRun(composition, isPublished);
        log.info('the assistant was started', { pid: run.pid, isPublished });
        const exitCode = await afterRun(await run.ended, isPublished);
        if (exitCode !== null) return exitCode;
      }
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

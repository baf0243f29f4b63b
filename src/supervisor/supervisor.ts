import { hasPending, recover } from '../../packages/claw/src/transaction/recover.js';
import type { AnswerEnd } from '../lib/answer-end.ts';
import { compositionOf } from '../lib/composition.ts';
import { type Client, type Clients, openClients } from './clients.ts';
import type { OwnerConsole } from './console/owner-console.ts';
import type { Shell, ShellEvents } from './control/server.ts';
import { type Environment, withoutSecrets } from './environment.ts';
import type { FirstChecks } from './first-checks.ts';
import { EXIT_DATABASE, EXIT_UNUSABLE } from './frames.ts';
import { type Lines, openLines } from './lines.ts';
import type { Log } from './log/log.ts';
import { lastHealthyOf } from './rollback/last-healthy.ts';
import { rollBack } from './rollback/rollback.ts';
import { type Run, type RunEnd, runAssistant } from './run.ts';
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
    const isHopeless = exitCode === EXIT_UNUSABLE || exitCode === EXIT_DATABASE;
    const level = isHopeless ? 'info' : 'error';
    log[level]('the assistant ended', { exitCode, signal, isLate, isHung });
    // Goes to the file alone: the terminal has shown these lines.
    log.info('what it said last', { lastLines });
    // Taking code back mends no database.
    if (isPublished && !last.wasHealthy && exitCode !== EXIT_DATABASE) {
      clients.setPhase('Taking the change back');
      return await takeBack(last);
    }
    if (isHopeless) {
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

const CRASH_WINDOW_MS = 60_000;
const MAX_CRASHES = 5;
const MAX_CRASH_PAUSE_MS = 10_000;

interface Crashes {
  /** Returns the pause before the next start, in milliseconds; null when it is time to give up. */
  next(now: number): number | null;
}

/** Starts again after a crash, later each time; the fifth within a minute is the last. */
export function countCrashes(firstPauseMs: number): Crashes {
  let times: number[] = [];
  return {
    next(now) {
      times = [...times.filter((time) => Math.abs(now - time) < CRASH_WINDOW_MS), now];
      if (times.length >= MAX_CRASHES) return null;
      return Math.min(firstPauseMs * 2 ** (times.length - 1), MAX_CRASH_PAUSE_MS);
    },
  };
}

/**
 * Finishes the work of a killed claw command, or one whose disk failed, before the assistant starts: it would
 * come up on a mixed tree. Never throws: the next command tries again. `recover` was loaded with the supervisor,
 * so it is that of the tree that worked, whatever is published later.
 *
 * @returns a note for the owner, or null
 */
function finishInterrupted(projectDir: string, log: Log): string | null {
  try {
    if (!hasPending(projectDir)) return null;
    const { outcome, verb, kept, reason } = recover(projectDir);
    log.info('a claw command was interrupted', { outcome, verb, kept });
    if (outcome !== 'needs-decision') return null;
    if (reason === 'foreign') {
      return 'An interrupted command was not begun in this folder, so it was not finished: `npx claw status` says what to do.';
    }
    const files = kept.length === 0 ? '' : ` (${kept.join(', ')})`;
    return `An interrupted command met edits of yours${files}: decide with \`npx claw recover\`.`;
  } catch (error) {
    log.error('an interrupted claw command could not be finished', { error: String(error) });
    return 'An interrupted command could not be finished: `npx claw status` says why.';
  }
}

/** Says, for the owner, why a tree was taken back: how its assistant ended, and with which error. */
function reasonFor({ isLate, exitCode, signal, lastLines }: RunEnd, healthyMs: number): string {
  const how = isLate
    ? `It was not ready after ${Math.ceil(healthyMs / 1000)} seconds.`
    : `It ended with ${signal ?? `code ${exitCode}`}.`;
  const said = errorIn(lastLines);
  return said === null ? how : `${how} ${said} \`npx claw logs\` has the rest.`;
}

/**
 * Finds the line that names the error, and its file, in Node's output for an exception; else the last line.
 */
function errorIn(lines: readonly string[]): string | null {
  const named = lines.findLast((line) => /^(Uncaught )?\w*Error\b/.test(line));
  const place = lines.findLast((line) => /^(file:\/\/)?\/\S+:\d+$/.test(line));
  const said = named ?? lines.findLast((line) => line.trim() !== '');
  if (said === undefined) return null;
  return place === undefined
    ? `It said: ${said}.`
    : `It said: ${said}, in ${place.replace('file://', '')}.`;
}

type ShellParts = {
  readonly lines: Lines;
  readonly clients: Clients;
  readonly complete: (typed: string) => Promise<readonly string[]>;
};

/** Lets a connected shell take part: what it says is said in the owner's chat, and answered there. */
function admitShell(shell: Shell, { lines, clients, complete }: ShellParts): ShellEvents {
  /** Of all that it waits for; one without an answer is not hidden by later ones. */
  let end: AnswerEnd = 'answered';
  const client: Client = {
    isOneByOne: false,
    isWatching: false,
    print: (text, replaces = null) => shell.send({ kind: 'answer', text, replaces }),
    grow: (piece) =>
      shell.send(piece === null ? { kind: 'dropped' } : { kind: 'growing', ...piece }),
    progress: (text) => shell.send({ kind: 'progress', text }),
    notice: (text) => shell.send({ kind: 'notice', text }),
    setActivity: (text) => shell.send({ kind: 'activity', text }),
    asked: () => shell.send({ kind: 'asking' }),
    acknowledged(last) {
      if (last !== 'answered') end = last;
      if (!lines.isIdle(client)) return;
      shell.send({ kind: 'acknowledged', end });
      end = 'answered';
    },
  };
  shell.send({ kind: 'welcome', name: clients.name(), completes: true });
  clients.join(client);
  return {
    onMessage(message) {
      if (message.kind === 'watch') client.isWatching = true;
      else if (message.kind === 'complete') {
        const { id, typed } = message;
        void complete(typed).then((found) =>
          shell.send({ kind: 'completions', id, lines: [...found] }),
        );
      } else lines.add(client, message.text);
    },
    onEnd: () => clients.leave(client),
  };
}

import { type AssistantProcess, type ProcessEnd, startAssistant } from './assistant-process.ts';
import type { Clients } from './clients.ts';
import type { OwnerConsole } from './console/owner-console.ts';
import type { Environment } from './environment.ts';
import type { ChildFrame, StartFrame } from './frames.ts';
import type { Lines } from './lines.ts';

export type RunOptions = {
  readonly nodePath: string;
  readonly mainPath: string;
  readonly projectDir: string;
  readonly environment: Environment;
  readonly ownerConsole: OwnerConsole;
  readonly lines: Lines;
  readonly clients: Clients;
  readonly start: StartFrame;
  readonly greets: boolean;
  /** Ended when it is not healthy after this time; null lets it take any. */
  readonly healthyMs: number | null;
  /** Takes secrets out of what the assistant prints. */
  readonly scrub: (text: string) => string;
  readonly stopMs: number;
  /** The interval of checking whether a healthy assistant still is, in milliseconds. */
  readonly livenessMs: number;
  readonly onPrompt: (prompt: string) => void;
  readonly onHealthy: () => void;
};

export type RunEnd = ProcessEnd & {
  readonly wantsRestart: boolean;
  readonly wasHealthy: boolean;
  readonly isLate: boolean;
  readonly isHung: boolean;
};

/** One process of the assistant, from its start to its end. */
export interface Run {
  readonly pid: number | undefined;
  stop(): void;
  kill(): void;
  /** Resolves with what the beginning of a command can become; it never rejects. */
  complete(typed: string): Promise<readonly string[]>;
  readonly ended: Promise<RunEnd>;
}

/** Starts the assistant and connects it with the owner's terminal. */
export function runAssistant(options: RunOptions): Run {
  const { ownerConsole, lines, clients, start, stopMs } = options;
  let wantsRestart = false;
  let wasHealthy = false;
  let isLate = false;
  let isHung = false;

  function onFrame(frame: ChildFrame): void {
    switch (frame.kind) {
      case 'hello':
        clients.setName(frame.name);
        if (options.greets) ownerConsole.print(frame.greeting);
        return;
      case 'prompt':
        options.onPrompt(frame.text);
        clients.setPhase(null);
        lines.attach((line) => assistant.send({ kind: 'line', ...line }));
        return;
      case 'print':
        clients.print(frame);
        return;
      case 'draft':
        clients.draft(frame);
        return;
      case 'draft-dropped':
        clients.dropDraft(frame.id);
        return;
      case 'notice':
        ownerConsole.notice(frame.text);
        return;
      case 'stored':
        lines.stored(frame.number);
        return;
      case 'answered':
        clients.ended(frame.ids, frame.end);
        lines.answered(frame.ids, frame.end);
        return;
      case 'asking':
        lines.asking(frame.ids, frame.isOpen);
        return;
      case 'acknowledged':
        lines.acknowledged(frame.number);
        return;
      case 'healthy':
        wasHealthy = true;
        clearTimeout(deadline);
        liveness.start();
        options.onHealthy();
        return;
      case 'completions':
        completions.answered(frame.id, frame.lines);
        return;
      case 'pong':
        liveness.heard();
        return;
      case 'restart':
        wantsRestart = true;
        liveness.stop();
        lines.detach();
        clients.setPhase('Restarting');
        assistant.stop(stopMs);
        return;
    }
  }

  const assistant: AssistantProcess = startAssistant({
    ...options,
    onFrame,
    // Output of a just published tree, before it is up, goes to the log, and into the reason if it is taken
    // back.
    onLogLine: (line) => {
      if (options.healthyMs === null || wasHealthy) ownerConsole.notice(line);
    },
  });
  const deadline = deadlineOf(options.healthyMs, () => {
    isLate = true;
    assistant.kill();
  });
  const completions = openCompletions((id, typed) =>
    assistant.send({ kind: 'complete', id, typed }),
  );
  const liveness = openLivenessCheck({
    intervalMs: options.livenessMs,
    ask: () => assistant.send({ kind: 'ping' }),
    onLost() {
      isHung = true;
      assistant.kill();
    },
  });
  assistant.send(start);
  return {
    pid: assistant.pid,
    stop: () => assistant.stop(stopMs),
    kill: assistant.kill,
    complete: completions.ask,
    ended: assistant.ended.then((end) => {
      clearTimeout(deadline);
      liveness.stop();
      completions.end();
      lines.detach();
      clients.dropDraft();
      return { ...end, wantsRestart, wasHealthy, isLate, isHung };
    }),
  };
}

function deadlineOf(ms: number | null, onLate: () => void): NodeJS.Timeout | undefined {
  return ms === null ? undefined : setTimeout(onLate, ms);
}

/** Tells when an assistant does not answer any more: a process can hang and never end. */
interface LivenessCheck {
  /** Asks from here on, once in each interval. */
  start(): void;
  /** Notes an answer of the assistant. */
  heard(): void;
  stop(): void;
}

type LivenessOptions = {
  readonly intervalMs: number;
  readonly ask: () => void;
  readonly onLost: () => void;
};

/** More than one: after a machine has slept, the time of a question may be over at once. */
const MAX_UNANSWERED = 3;

/**
 * Asks the assistant again and again, and takes one for hung that leaves three questions in a row
 * unanswered. One that has never answered is of a version that does not know the question.
 */
export function openLivenessCheck({ intervalMs, ask, onLost }: LivenessOptions): LivenessCheck {
  let timer: NodeJS.Timeout | undefined;
  let hasAnswered = false;
  let unanswered = 0;

  function beat(): void {
    if (hasAnswered && unanswered >= MAX_UNANSWERED) {
      onLost();
      return;
    }
    unanswered += 1;
    ask();
    timer = setTimeout(beat, intervalMs);
  }

  return {
    start: beat,
    heard() {
      hasAnswered = true;
      unanswered = 0;
    },
    stop: () => clearTimeout(timer),
  };
}

/** Questions to the assistant what the beginning of a command can become. */
interface Completions {
  /** Resolves with whole lines; with none where the assistant does not answer in time, or has ended. */
  ask(typed: string): Promise<readonly string[]>;
  answered(id: number, lines: readonly string[]): void;
  /** The assistant has ended: nothing is answered any more. */
  end(): void;
}

/** A person waits with the finger on Tab. */
const COMPLETION_MS = 2_000;

/** Asks by `send`, which carries an id that the answer has too. */
function openCompletions(send: (id: number, typed: string) => void): Completions {
  const waiting = new Map<number, (lines: readonly string[]) => void>();
  let count = 0;
  const settle = (id: number, lines: readonly string[]): void => {
    waiting.get(id)?.(lines);
    waiting.delete(id);
  };
  return {
    async ask(typed) {
      count += 1;
      const id = count;
      const { promise, resolve } = Promise.withResolvers<readonly string[]>();
      waiting.set(id, resolve);
      const timer = setTimeout(settle, COMPLETION_MS, id, []);
      send(id, typed);
      return await promise.finally(() => clearTimeout(timer));
    },
    answered: settle,
    end() {
      for (const id of waiting.keys()) settle(id, []);
    },
  };
}

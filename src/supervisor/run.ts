import { type AssistantProcess, type ProcessEnd, startAssistant } from './assistant-process.ts';
import type { Environment } from './environment.ts';
import type { ChildFrame, StartFrame } from './frames.ts';
import type { Lines } from './lines.ts';
import type { OwnerConsole } from './owner-console.ts';

export type RunOptions = {
  readonly nodePath: string;
  readonly mainPath: string;
  readonly projectDir: string;
  readonly environment: Environment;
  readonly ownerConsole: OwnerConsole;
  readonly lines: Lines;
  readonly start: StartFrame;
  readonly greets: boolean;
  /** Ended when it is not healthy after this time; null lets it take any. */
  readonly healthyMs: number | null;
  readonly stopMs: number;
  readonly onPrompt: (prompt: string) => void;
  readonly onHealthy: () => void;
};

export type RunEnd = ProcessEnd & {
  readonly wantsRestart: boolean;
  readonly wasHealthy: boolean;
  readonly isLate: boolean;
};

/** One process of the assistant, from its start to its end. */
export interface Run {
  readonly pid: number | undefined;
  stop(): void;
  readonly ended: Promise<RunEnd>;
}

/** Starts the assistant and connects it with the owner's terminal. */
export function runAssistant(options: RunOptions): Run {
  const { ownerConsole, lines, start, stopMs } = options;
  let name = 'The assistant';
  let wantsRestart = false;
  let wasHealthy = false;
  let isLate = false;

  function onFrame(frame: ChildFrame): void {
    switch (frame.kind) {
      case 'hello':
        name = frame.name;
        if (options.greets) ownerConsole.print(frame.greeting);
        return;
      case 'prompt':
        options.onPrompt(frame.text);
        ownerConsole.setActivity(null);
        lines.attach((line) => assistant.send({ kind: 'line', ...line }));
        return;
      case 'print':
        ownerConsole.print(frame.text);
        return;
      case 'notice':
        ownerConsole.notice(frame.text);
        return;
      case 'typing':
        ownerConsole.setActivity(frame.isTyping ? `${name} is typing` : null);
        return;
      case 'stored':
        lines.stored(frame.number);
        return;
      case 'settled':
        lines.settled(frame.number);
        return;
      case 'healthy':
        wasHealthy = true;
        clearTimeout(deadline);
        options.onHealthy();
        return;
      case 'restart':
        wantsRestart = true;
        lines.detach();
        ownerConsole.setActivity('Restarting');
        assistant.stop(stopMs);
        return;
    }
  }

  const assistant: AssistantProcess = startAssistant({
    ...options,
    onFrame,
    onLogLine: (line) => ownerConsole.notice(line),
  });
  const deadline = deadlineOf(options.healthyMs, () => {
    isLate = true;
    assistant.kill();
  });
  assistant.send(start);
  return {
    pid: assistant.pid,
    stop: () => assistant.stop(stopMs),
    ended: assistant.ended.then((end) => {
      clearTimeout(deadline);
      lines.detach();
      return { ...end, wantsRestart, wasHealthy, isLate };
    }),
  };
}

function deadlineOf(ms: number | null, onLate: () => void): NodeJS.Timeout | undefined {
  return ms === null ? undefined : setTimeout(onLate, ms);
}

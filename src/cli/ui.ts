import type { ProgressEvent } from '../engine/commands.ts';
import { cut } from './screen.ts';

/** A person's view of a verb at work: a spinner with times on a terminal, plain lines in a pipe. */
export type Ui = {
  readonly canAsk: boolean;
  progress(event: ProgressEvent): void;
  ask(question: string): Promise<boolean>;
  /** Ends whatever is still turning. */
  stop(isOk: boolean): void;
};

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function createUi({ isQuiet }: { readonly isQuiet: boolean }): Ui {
  return process.stderr.isTTY && !isQuiet ? terminalUi() : plainUi();
}

// With --json, progress still goes to stderr, where the assistant reads it line by line.
function plainUi(): Ui {
  return {
    canAsk: false,
    progress: ({ kind, text }) => {
      if (kind !== 'done') process.stderr.write(`${text}\n`);
    },
    ask: async () => true,
    stop: () => {},
  };
}

function terminalUi(): Ui {
  let current: { text: string; startedAt: number; timer: NodeJS.Timeout } | null = null;
  const finish = (mark: string): void => {
    if (!current) return;
    clearInterval(current.timer);
    const seconds = ((performance.now() - current.startedAt) / 1000).toFixed(1);
    process.stderr.write(`\r\x1b[K${mark} ${current.text} \x1b[2m${seconds} s\x1b[0m\n`);
    current = null;
  };
  const begin = (text: string): void => {
    finish('✓');
    let frame = 0;
    const draw = (): void => {
      frame = (frame + 1) % FRAMES.length;
      process.stderr.write(frameLine(`${FRAMES[frame]} ${text}`, process.stderr.columns || 80));
    };
    draw();
    current = { text, startedAt: performance.now(), timer: setInterval(draw, 80) };
    current.timer.unref();
  };
  return {
    canAsk: process.stdin.isTTY === true,
    progress: ({ kind, text }) => {
      if (kind === 'step') begin(text);
      else if (kind === 'done') finish('✓');
      else process.stderr.write(`\r\x1b[K\x1b[2m  ${text}\x1b[0m\n`);
    },
    ask: async (question) => {
      finish('✓');
      const { confirm, isCancel } = await import('./prompts.ts');
      const answer = await confirm({ message: question, output: process.stderr });
      return !isCancel(answer) && answer;
    },
    stop: (isOk) => finish(isOk ? '✓' : '✗'),
  };
}

/** Returns what draws a line over the one before: one that ran over the edge would leave its rest behind. */
export function frameLine(text: string, columns: number): string {
  return `\r\x1b[K${cut(text, columns - 1)}`;
}

import { cut, harmless, painted, screenOf } from '../text/screen.ts';
import type { ProgressEvent } from '../verbs.ts';

/** A person's view of a verb at work: a spinner with times on a terminal, plain lines in a pipe. */
export type Ui = {
  readonly canAsk: boolean;
  /** Writes the commands in a text of our own as they have to be typed. */
  readonly asTyped: (text: string) => string;
  progress(event: ProgressEvent): void;
  ask(question: string): Promise<boolean>;
  /** Ends whatever is still turning. */
  stop(isOk: boolean): void;
};

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/**
 * @param options with `isQuiet` nothing is said but what failed and what the owner has to know; `isForPrograms` writes
 *   each event as it is, one JSON object a line
 */
export function createUi({
  isPlain,
  isQuiet,
  isForPrograms = false,
  asTyped = (text) => text,
}: {
  readonly isPlain: boolean;
  readonly isQuiet: boolean;
  readonly isForPrograms?: boolean;
  readonly asTyped?: Ui['asTyped'];
}): Ui {
  if (isForPrograms) {
    const progress: Ui['progress'] = (event) => process.stderr.write(`${JSON.stringify(event)}\n`);
    return { canAsk: false, asTyped, progress, ask: async () => true, stop: () => {} };
  }
  const ui = { ...(process.stderr.isTTY && !isPlain ? uiOfTerminal() : plainUi()), asTyped };
  return {
    ...ui,
    progress: (event) => {
      if (!isQuiet || event.kind === 'note') ui.progress({ ...event, text: harmless(event.text) });
    },
  };
}

function uiOfTerminal(): Omit<Ui, 'asTyped'> {
  // No line can be drawn over there.
  if (process.env['TERM'] === 'dumb') return { ...plainUi(), canAsk: canAsk(), ask: askOnTerminal };
  return animatedUi();
}

const canAsk = () => process.stdin.isTTY === true;

async function askOnTerminal(question: string): Promise<boolean> {
  const { confirm, isCancel } = await import('./prompts.ts');
  const answer = await confirm({ message: question, output: process.stderr });
  return !isCancel(answer) && answer;
}

// With --json, progress still goes to stderr, where the assistant reads it line by line.
function plainUi(): Omit<Ui, 'asTyped'> {
  const write = (line: string) => process.stderr.write(`${line}\n`);
  return {
    canAsk: false,
    progress: (event) => {
      if (event.kind === 'done' || event.kind === 'output') return;
      if (event.kind !== 'ended') write(event.text);
      else if (event.outcome !== 'passed') write(`${MARKS[event.outcome]} ${event.text}`);
    },
    ask: async () => true,
    stop: () => {},
  };
}

const MARKS = { passed: '✓', failed: '✗', stopped: '–' } as const;
type Mark = (typeof MARKS)[keyof typeof MARKS];

/** A step that runs. One that `endsItself` may have others beside it; any other ends when the next begins. */
type Step = { readonly text: string; readonly startedAt: number; readonly endsItself: boolean };

function animatedUi(): Omit<Ui, 'asTyped'> {
  const dim = (text: string) => painted(text, 'dim', screenOf(process.stderr, process.env));
  let steps: readonly Step[] = [];
  let timer: NodeJS.Timeout | null = null;
  let frame = 0;
  const draw = (): void => {
    frame = (frame + 1) % FRAMES.length;
    const texts = steps.map(({ text }) => text).join(' · ');
    process.stderr.write(frameLine(`${FRAMES[frame]} ${texts}`, process.stderr.columns || 80));
  };
  const turn = (): void => {
    if (steps.length === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
    if (steps.length === 0) return;
    draw();
    timer ??= setInterval(draw, 80).unref();
  };
  const end = (isEnding: (step: Step) => boolean, mark: Mark): void => {
    for (const { text, startedAt } of steps.filter(isEnding)) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      process.stderr.write(`\r\x1b[K${mark} ${text} ${dim(`${seconds} s`)}\n`);
    }
    steps = steps.filter((step) => !isEnding(step));
    turn();
  };
  // A plain step has ended well if another begins.
  const endPlain = (mark: Mark): void => end(({ endsItself }) => !endsItself, mark);
  const begin = (text: string, endsItself: boolean): void => {
    endPlain('✓');
    steps = [...steps, { text, startedAt: performance.now(), endsItself }];
    turn();
  };
  return {
    canAsk: canAsk(),
    progress: (event) => {
      const { kind, text } = event;
      if (kind === 'step') begin(text, false);
      else if (kind === 'started') begin(text, true);
      else if (kind === 'done') endPlain('✓');
      else if (kind === 'note') process.stderr.write(`\r\x1b[K${dim(`  ${text}`)}\n`);
      else if (event.kind === 'ended')
        end((step) => step.endsItself && step.text === text, MARKS[event.outcome]);
    },
    ask: async (question) => {
      endPlain('✓');
      return await askOnTerminal(question);
    },
    stop: (isOk) => {
      endPlain(isOk ? '✓' : '✗');
      end(() => true, '–');
    },
  };
}

/**
 * Returns the text that draws a line over the previous one, cut to the width: a longer line would leave its rest
 * behind.
 */
export function frameLine(text: string, columns: number): string {
  return `\r\x1b[K${cut(text, columns - 1)}`;
}

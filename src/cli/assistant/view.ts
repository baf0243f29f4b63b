import { styleText } from 'node:util';
import { renderMarkdown } from '../../terminal/markdown.ts';
import { printable } from '../../terminal/printable.ts';
import { wrap } from '../../terminal/wrap.ts';
import { screenOf } from '../screen.ts';
import type { ConversationView } from './conversation.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

export type CollectingView = ConversationView & {
  readonly answers: readonly string[];
  /** Removes the sign that work goes on. */
  end(): void;
};

/**
 * Prints answers on stdout and everything else on stderr, and keeps the answers.
 *
 * @param isQuiet stdout is for something else
 */
export function collectingView({ isQuiet }: { readonly isQuiet: boolean }): CollectingView {
  const { hasColours, columns } = screenOf(process.stdout, process.env);
  const isLive = process.stderr.isTTY === true;
  const answers: string[] = [];
  let spinner: NodeJS.Timeout | undefined;
  let drawn = '';

  function clear(): void {
    if (drawn !== '') process.stderr.write(CLEAR_LINE);
    drawn = '';
  }

  return {
    answers,
    onAnswer(markdown) {
      clear();
      answers.push(markdown);
      if (isQuiet) return;
      const text = hasColours
        ? renderMarkdown(markdown, columns ?? Number.POSITIVE_INFINITY)
        : wrap(printable(markdown), columns ?? Number.POSITIVE_INFINITY);
      process.stdout.write(`${text}\n`);
    },
    onProgress(text) {
      clear();
      const line = printable(text);
      process.stderr.write(
        `${isLive && hasColours ? styleText('dim', line, { validateStream: false }) : line}\n`,
      );
    },
    onActivity(activity) {
      clearInterval(spinner);
      clear();
      if (!isLive || activity === null) return;
      let frame = 0;
      const draw = (): void => {
        drawn = `${FRAMES[frame++ % FRAMES.length]} ${activity}`;
        process.stderr.write(CLEAR_LINE + drawn);
      };
      draw();
      spinner = setInterval(draw, FRAME_MS);
    },
    end() {
      clearInterval(spinner);
      clear();
    },
  };
}

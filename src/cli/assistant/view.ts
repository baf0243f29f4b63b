import { styleText } from 'node:util';
import { screenOf } from '@patchclaw/claw/cli';
import { wrap } from '@patchclaw/claw/text';
import { openLiveAnswer } from '../../supervisor/console/live-answer.ts';
import { renderMarkdown } from '../../supervisor/console/markdown.ts';
import { printable } from '../../supervisor/console/printable.ts';
import type { ConversationView } from './conversation.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

export type CollectingView = ConversationView & {
  readonly answers: readonly string[];
  /** Removes the sign that work goes on. */
  end(): void;
};

/** Rows that stay above an answer that is drawn again: the cursor cannot go up beyond the screen. */
const KEPT_ROWS = 3;

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

  const width = columns ?? Number.POSITIVE_INFINITY;
  /** Rows of an answer that is being written, which are drawn again as it grows. */
  let tailRows = 0;
  const answer = openLiveAnswer({
    show(texts, rendered) {
      clear();
      const room = Math.max((process.stdout.rows ?? 24) - KEPT_ROWS, 1);
      const tail = rendered === '' ? [] : wrap(rendered, width).split('\n').slice(-room);
      const back = tailRows > 0 ? `\u001b[${tailRows}A\r\u001b[J` : '';
      tailRows = tail.length;
      process.stdout.write(back + [...texts, ...tail].map((text) => `${text}\n`).join(''));
    },
    render: (markdown) =>
      hasColours ? renderMarkdown(markdown, width) : wrap(printable(markdown), width),
    remark: (text) => (hasColours ? styleText('dim', text, { validateStream: false }) : text),
    separatesBlocks: hasColours,
  });

  return {
    answers,
    onAnswer(markdown, replaces) {
      answers.push(markdown);
      if (!isQuiet) answer.print(markdown, replaces);
    },
    onGrowing(piece) {
      // Whoever reads a pipe wants the text once, when it is whole.
      if (isQuiet || columns === null) return;
      if (piece === null) answer.drop();
      else answer.grow(piece);
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

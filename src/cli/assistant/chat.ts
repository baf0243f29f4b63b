import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { ClawError, ended, type Invocation, type ResultWith, screenOf } from '@patchclaw/claw/cli';
import { wrap } from '@patchclaw/claw/text';
import { openLiveAnswer } from '../../supervisor/console/live-answer.ts';
import { renderMarkdown } from '../../supervisor/console/markdown.ts';
import { isLeaving } from '../../supervisor/console/owner-console.ts';
import { printable } from '../../supervisor/console/printable.ts';
import type { Answers, ChatResult } from '../results.ts';
import { chatOnTerminal } from './chat-session.ts';
import type { ConversationView } from './conversation.ts';
import { withAssistant } from './talk.ts';

/**
 * Says something in the owner's chat and prints the answers; `-` at the end adds what is piped in.
 * Without words it is a session on a terminal, and what is piped in is said line by line.
 */
export async function chat(invocation: Invocation, words: readonly string[]): Promise<ChatResult> {
  if (words.at(-1) === '-') {
    const piped = (await text(process.stdin)).trimEnd();
    return await sayAll(invocation, [[words.slice(0, -1).join(' '), piped].join('\n\n').trim()]);
  }
  if (words.length > 0) return await sayAll(invocation, [words.join(' ')]);
  if (process.stdin.isTTY !== true) return await sayAll(invocation, pipedLines());
  if (invocation.options.json !== true) return await chatOnTerminal(invocation);
  throw new ClawError('USAGE', 'With --json, give the words: npx claw chat --json "/status"');
}

/**
 * Says one text after the other, each when the one before is answered, or asks for it. The result is `failed` if one
 * of them has no answer.
 */
export async function sayAll(
  invocation: Invocation,
  texts: readonly string[] | AsyncIterable<string>,
): Promise<ResultWith<'chat', Answers>> {
  const view = collectingView({ isQuiet: invocation.options.json === true });
  try {
    const end = await withAssistant(invocation, view, async (conversation) => {
      for await (const text of texts) if (text.trim() !== '') await conversation.tell(text);
      return await conversation.answered();
    });
    const data = { answers: view.answers, end };
    return ended('chat', data, end === 'answered' ? 'done' : 'failed');
  } finally {
    view.end();
  }
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

type CollectingView = ConversationView & {
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
function collectingView({ isQuiet }: { readonly isQuiet: boolean }): CollectingView {
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

async function* pipedLines(): AsyncIterable<string> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (isLeaving(line)) return;
    yield line;
  }
}

import { createInterface, type Interface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { History } from './history.ts';
import type { ConsoleEvents, OwnerConsole } from './owner-console.ts';

export type TerminalStreams = {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly history: History;
  readonly isStyled: boolean;
};

const LEAVE_WORDS = new Set(['/exit', '/quit']);
const SECOND_CTRL_C_MS = 2_000;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;

/** A terminal with line editing and history; what arrives goes above the line that is being typed. */
export function interactiveConsole(streams: TerminalStreams): OwnerConsole {
  const { input, output, history, isStyled } = streams;
  let editor: Interface | null = null;
  let prompt = '';
  let spinner: NodeJS.Timeout | undefined;

  function writeAbove(text: string): void {
    if (editor === null) {
      output.write(`${text}\n`);
      return;
    }
    output.moveCursor(0, -editor.getCursorPos().rows);
    output.cursorTo(0);
    output.clearScreenDown();
    output.write(`${text}\n`);
    setDrawnRows(editor, 0);
    editor.prompt(true);
  }

  function redraw(text: string): void {
    if (editor === null) return;
    setDrawnRows(editor, editor.getCursorPos().rows);
    editor.setPrompt(text);
    editor.prompt(true);
  }

  return {
    isInteractive: true,
    isStyled,
    open(text, events) {
      if (editor !== null) return;
      prompt = text;
      editor = createInterface({
        input,
        output,
        prompt,
        terminal: true,
        history: [...history.read()],
        historySize: history.size,
        removeHistoryDuplicates: true,
      });
      editor.on('history', (lines: string[]) => history.write(lines));
      input.prependListener('keypress', (_text, key?: { readonly name?: string }) => {
        if (editor === null) return;
        setDrawnRows(editor, editor.getCursorPos().rows);
        // What was said stays on the screen as it was typed, without the spinner of that moment.
        if (spinner !== undefined && key?.name === 'return') redraw(prompt);
      });
      listen(editor, events, writeAbove);
      // The editor throws when it is drawn after its end, and answers still come in while all stops.
      editor.on('close', () => {
        clearInterval(spinner);
        editor = null;
        output.write(
          spinner === undefined ? '\n' : '\nLeaving; what is under way may still end.\n',
        );
        events.onEnd();
      });
      editor.prompt();
    },
    print: writeAbove,
    notice: (text) =>
      writeAbove(isStyled ? styleText('dim', text, { validateStream: false }) : text),
    setActivity(activity) {
      clearInterval(spinner);
      spinner = undefined;
      if (editor === null) return;
      if (activity === null) {
        redraw(prompt);
        return;
      }
      let frame = 0;
      const draw = () => redraw(`${FRAMES[frame++ % FRAMES.length]} ${activity} ${prompt}`);
      draw();
      spinner = setInterval(draw, FRAME_MS);
    },
    settled: () => {},
    close() {
      clearInterval(spinner);
      editor?.setPrompt('');
      editor?.close();
    },
  };
}

/**
 * Tells the line editor on which row of the typed line the cursor is. Node's editor goes up that far
 * before it draws, but loses count when a line grows over the edge, and then leaves rows behind. The
 * property is not documented: should it go, a long line is drawn twice at worst.
 */
function setDrawnRows(editor: Interface, rows: number): void {
  Object.assign(editor, { prevRows: rows });
}

function listen(
  editor: Interface,
  events: ConsoleEvents,
  writeAbove: (text: string) => void,
): void {
  let lastCtrlC = Number.NEGATIVE_INFINITY;
  editor.on('line', (line) => {
    if (LEAVE_WORDS.has(line.trim())) {
      editor.close();
      return;
    }
    if (line.trim() !== '') events.onLine(line);
    editor.prompt();
  });
  editor.on('SIGINT', () => {
    if (editor.line !== '') {
      editor.write(null, { ctrl: true, name: 'e' });
      editor.write(null, { ctrl: true, name: 'u' });
    } else if (performance.now() - lastCtrlC < SECOND_CTRL_C_MS) {
      editor.close();
    } else {
      lastCtrlC = performance.now();
      writeAbove('Press Ctrl-C again, or Ctrl-D, to leave.');
    }
  });
}

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

  /**
   * The typed line may fill several rows. They are cleared from the first on, and after the text as
   * many rows are left free as the editor will go back up when it draws the line again.
   */
  function writeAbove(text: string): void {
    if (editor === null) {
      output.write(`${text}\n`);
      return;
    }
    const { rows } = editor.getCursorPos();
    output.moveCursor(0, -rows);
    output.cursorTo(0);
    output.clearScreenDown();
    output.write(`${text}\n${'\n'.repeat(rows)}`);
    editor.prompt(true);
  }

  function redraw(text: string): void {
    editor?.setPrompt(text);
    editor?.prompt(true);
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
      listen(editor, events, writeAbove);
      editor.prompt();
    },
    print: writeAbove,
    notice: (text) =>
      writeAbove(isStyled ? styleText('dim', text, { validateStream: false }) : text),
    setActivity(activity) {
      clearInterval(spinner);
      spinner = undefined;
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

function listen(
  editor: Interface,
  events: ConsoleEvents,
  writeAbove: (text: string) => void,
): void {
  let lastCtrlC = 0;
  editor.on('line', (line) => {
    if (LEAVE_WORDS.has(line.trim())) {
      editor.close();
      return;
    }
    if (line.trim() !== '') events.onLine(line);
    editor.prompt();
  });
  editor.on('SIGINT', () => {
    const isSecond = performance.now() - lastCtrlC < SECOND_CTRL_C_MS;
    lastCtrlC = performance.now();
    if (editor.line !== '') {
      editor.write(null, { ctrl: true, name: 'e' });
      editor.write(null, { ctrl: true, name: 'u' });
    } else if (isSecond) {
      editor.close();
    } else {
      writeAbove('Press Ctrl-C again, or Ctrl-D, to leave.');
    }
  });
  editor.on('close', events.onEnd);
}

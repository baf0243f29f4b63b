import { createInterface, type Interface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { wrap } from '@patchclaw/claw/text';
import type { History } from './history.ts';
import { openLiveAnswer } from './live-answer.ts';
import { renderMarkdown } from './markdown.ts';
import { type ConsoleEvents, isLeaving, type OwnerConsole } from './owner-console.ts';
import { printable } from './printable.ts';

export type TerminalStreams = {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly history: History;
  readonly isStyled: boolean;
};

type CompleterAnswer = (error: null, found: [string[], string]) => void;

const SECOND_CTRL_C_MS = 2_000;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
/** Rows for the typed line and what is above the tail. */
const KEPT_ROWS = 5;
const CONTINUED = '… ';
/** Asks the terminal to say where a paste begins and ends, and to stop doing so. */
const MARK_PASTES = '\u001b[?2004h';
const LEAVE_PASTES = '\u001b[?2004l';

/** Creates a terminal with line editing and history; output goes above the line that is being typed. */
export function interactiveConsole(streams: TerminalStreams): OwnerConsole {
  const { input, output, history, isStyled } = streams;
  const message = openMessage();
  let editor: Interface | null = null;
  let prompt = '';
  let spinner: NodeJS.Timeout | undefined;
  /** The last part of an answer that is being written: lines above the prompt, each of one row. */
  let tail: readonly string[] = [];
  /** Rows of it that are on the screen. */
  let tailRows = 0;
  /** The tail while a line is being ended. */
  let tailBelow: readonly string[] = [];

  const writeAbove = (text: string): void => show([text], tail);

  /** Writes texts above the line that is being typed, and between the two the tail. */
  function show(texts: readonly string[], nextTail: readonly string[]): void {
    const lines = [...texts, ...(editor === null ? [] : nextTail)]
      .map((text) => `${text}\n`)
      .join('');
    tail = nextTail;
    if (editor === null) {
      output.write(lines);
      return;
    }
    // In one piece: a terminal that draws half of it would flicker.
    output.cork();
    output.moveCursor(0, -editor.getCursorPos().rows - tailRows);
    output.cursorTo(0);
    output.clearScreenDown();
    output.write(lines);
    tailRows = nextTail.length;
    setDrawnRows(editor, 0);
    editor.prompt(true);
    output.uncork();
  }

  const render = (markdown: string): string =>
    isStyled
      ? renderMarkdown(markdown, widthOf(output))
      : wrap(printable(markdown), widthOf(output));
  const dimmed = (text: string): string => {
    const lines = wrap(printable(text), widthOf(output));
    return isStyled ? styleText('dim', lines, { validateStream: false }) : lines;
  };
  const answer = openLiveAnswer({
    show: (texts, rendered) => show(texts, lastRows(rendered, output)),
    render,
    remark: dimmed,
    separatesBlocks: isStyled,
  });

  function redraw(text: string): void {
    if (editor === null) return;
    setDrawnRows(editor, editor.getCursorPos().rows);
    editor.setPrompt(text);
    editor.prompt(true);
  }

  /** Finds what Tab offers, and the part of the line that it takes the place of. */
  async function completionsFor(
    typed: string,
    { complete }: ConsoleEvents,
    answer: (found: [string[], string]) => void,
  ): Promise<void> {
    // Of a paste, it is a character like any other.
    if (message.isPasting()) return answer([['\t'], '']);
    if (complete === undefined || message.isBegun() || !typed.startsWith('/')) {
      return answer([[], typed]);
    }
    const lines = await complete(typed).catch(() => []);
    // The editor cannot go on with a line once it is closed.
    if (editor === null) return;
    // The list goes below the typed line, and the tail of an answer, which is above that, begins again with its next part.
    if (lines.length > 1 && tail.length > 0) show([], []);
    // Below a command only its arguments are listed.
    const at = typed.indexOf(' ') + 1;
    answer([lines.map((line) => printable(line).slice(at)), typed.slice(at)]);
  }

  const ownPrompt = (): string => (message.isBegun() ? CONTINUED : prompt);

  function onLine(line: string, events: ConsoleEvents): void {
    if (editor === null) return;
    const kept = tailBelow;
    tailBelow = [];
    const said = message.add(line);
    if (said !== null && isLeaving(said)) {
      editor.close();
      return;
    }
    if (said !== null && said.trim() !== '') events.onLine(said);
    if (spinner === undefined) editor.setPrompt(ownPrompt());
    editor.prompt();
    if (kept.length > 0) show([], kept);
  }

  function onKey(key?: { readonly name?: string }): void {
    if (editor === null) return;
    setDrawnRows(editor, editor.getCursorPos().rows);
    if (key?.name === 'paste-start') message.beginPaste();
    if (key?.name === 'paste-end') message.endPaste();
    // What is said stays above the tail of an answer, which goes on below it.
    if (key?.name === 'return' && tail.length > 0) {
      tailBelow = tail;
      show([], []);
    }
    // A finished line stays on the screen as typed, without the spinner of that moment.
    if (spinner !== undefined && key?.name === 'return') redraw(ownPrompt());
  }

  return {
    isInteractive: true,
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
        // With one parameter it would have to answer at once.
        completer: (typed: string, answer: CompleterAnswer) =>
          completionsFor(typed, events, (found) => answer(null, found)),
      });
      output.write(MARK_PASTES);
      editor.on('history', ([newest]: string[]) => {
        if (newest !== undefined) history.add(newest);
      });
      input.prependListener('keypress', (_text, key?: { readonly name?: string }) => onKey(key));
      editor.on('line', (line) => onLine(line, events));
      listenForCtrlC(editor, { writeAbove, isBegun: message.isBegun, drop: dropMessage });
      // The editor throws when it is drawn after its end, and answers still come in while all stops.
      editor.on('close', () => {
        clearInterval(spinner);
        editor = null;
        output.write(LEAVE_PASTES);
        output.write(
          spinner === undefined
            ? '\n'
            : '\nLeaving; what is under way may still end. Ctrl-C ends it at once.\n',
        );
        events.onEnd();
      });
      editor.prompt();
    },
    print: (markdown, replaces = null) => answer.print(markdown, replaces),
    grow: (piece) => (piece === null ? answer.drop() : answer.grow(piece)),
    notice: (text) => writeAbove(dimmed(text)),
    setActivity(activity) {
      clearInterval(spinner);
      spinner = undefined;
      if (editor === null) return;
      if (activity === null) {
        redraw(ownPrompt());
        return;
      }
      let frame = 0;
      const draw = () =>
        redraw(`${FRAMES[frame++ % FRAMES.length]} ${short(activity, output)} ${ownPrompt()}`);
      draw();
      spinner = setInterval(draw, FRAME_MS);
    },
    acknowledged: () => {},
    close() {
      clearInterval(spinner);
      editor?.setPrompt('');
      editor?.close();
    },
  };

  function dropMessage(): void {
    message.drop();
    redraw(ownPrompt());
  }
}

function widthOf({ columns }: WriteStream): number {
  return columns > 0 ? columns : 80;
}

/** Returns the rows of a text that there is room for above the typed line: the cursor cannot go up beyond the screen. */
function lastRows(text: string, output: WriteStream): readonly string[] {
  if (text === '') return [];
  const room = Math.max((output.rows > 0 ? output.rows : 24) - KEPT_ROWS, 1);
  return wrap(text, widthOf(output)).split('\n').slice(-room);
}

/** Leaves the activity out on a narrow terminal, where the typed line needs the room. */
function short(activity: string, output: WriteStream): string {
  return activity.length + 20 > widthOf(output) ? '' : activity;
}

/**
 * Tells the line editor on which row of the typed line the cursor is. Node's editor goes up that far before
 * it draws, but loses count when a line grows over the edge, and then leaves rows undeleted. The property is
 * not documented: should it go, a long line is drawn twice at worst.
 */
function setDrawnRows(editor: Interface, rows: number): void {
  Object.assign(editor, { prevRows: rows });
}

/** A message on its way from lines to one text: a paste is one message, and a backslash goes on. */
interface LineMessage {
  /** Takes a line that was ended; the message, or null while it goes on. */
  add(line: string): string | null;
  beginPaste(): void;
  endPaste(): void;
  isPasting(): boolean;
  /** Tells whether lines were taken that belong to a message that goes on. */
  isBegun(): boolean;
  drop(): void;
}

export function openMessage(): LineMessage {
  let lines: string[] = [];
  let isPasting = false;
  return {
    add(line) {
      const goesOn = !isPasting && /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
      lines.push(goesOn ? line.slice(0, -1) : line);
      if (isPasting || goesOn) return null;
      const text = lines.join('\n').trimEnd();
      lines = [];
      return text;
    },
    beginPaste() {
      isPasting = true;
    },
    endPaste() {
      isPasting = false;
    },
    isPasting: () => isPasting,
    isBegun: () => lines.length > 0,
    drop() {
      lines = [];
    },
  };
}

type CtrlCParts = {
  readonly writeAbove: (text: string) => void;
  readonly isBegun: () => boolean;
  readonly drop: () => void;
};

function listenForCtrlC(editor: Interface, { writeAbove, isBegun, drop }: CtrlCParts): void {
  let lastCtrlC = Number.NEGATIVE_INFINITY;
  editor.on('SIGINT', () => {
    if (editor.line !== '' || isBegun()) {
      editor.write(null, { ctrl: true, name: 'e' });
      editor.write(null, { ctrl: true, name: 'u' });
      drop();
    } else if (performance.now() - lastCtrlC < SECOND_CTRL_C_MS) {
      editor.close();
    } else {
      lastCtrlC = performance.now();
      writeAbove('Press Ctrl-C again, or Ctrl-D, to leave.');
    }
  });
}

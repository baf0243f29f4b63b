import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { isLeaving, type OwnerConsole } from './owner-console.ts';
import { printable } from './printable.ts';

export type PipedStreams = {
  readonly input: Readable;
  readonly output: Writable;
  /** Logs and notices: never mixed with the answers. */
  readonly errors: Writable;
};

/** Creates a console on pipes: reads lines, writes a prompt and answers; everything else goes to stderr. */
export function pipedConsole({ input, output, errors }: PipedStreams): OwnerConsole {
  let lines: Interface | null = null;
  let prompt = '';
  let isPromptShown = false;
  let isLeft = false;
  /** Lines that were said and are not answered. */
  let unanswered = 0;

  function showPrompt(): void {
    if (lines === null || isPromptShown) return;
    isPromptShown = true;
    output.write(prompt);
  }

  /** Ends the prompt's line, which separates prompt and answer. */
  function leavePrompt(): void {
    if (isPromptShown && prompt !== '') output.write('\n');
    isPromptShown = false;
  }

  /** Shows an unasked message between a prompt and its line, then the prompt again. */
  function interject(show: () => void): void {
    const isWaiting = isPromptShown && unanswered === 0;
    if (isWaiting) leavePrompt();
    show();
    if (isWaiting) showPrompt();
  }

  return {
    isInteractive: false,
    open(text, events) {
      if (lines !== null) return;
      prompt = text;
      lines = createInterface({ input, terminal: false });
      showPrompt();
      lines.on('line', (line) => {
        if (isLeft) return;
        if (isLeaving(line)) {
          // Lines that were read together with it still arrive, and are ignored.
          isLeft = true;
          lines?.close();
        } else if (line.trim() !== '') {
          unanswered += 1;
          events.onLine(line);
        }
      });
      lines.on('close', events.onEnd);
    },
    print: (markdown) =>
      interject(() => {
        leavePrompt();
        output.write(`${printable(markdown)}\n`);
      }),
    // Whoever reads a pipe wants the text once, when it is whole.
    grow: () => {},
    notice: (text) => interject(() => void errors.write(`${printable(text)}\n`)),
    setActivity: () => {},
    acknowledged() {
      unanswered = Math.max(0, unanswered - 1);
      showPrompt();
    },
    close() {
      leavePrompt();
      lines?.close();
    },
  };
}

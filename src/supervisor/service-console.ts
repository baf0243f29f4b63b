import type { Writable } from 'node:stream';
import type { OwnerConsole } from '../terminal/owner-console.ts';
import { printable } from '../terminal/printable.ts';

/**
 * Nobody types here: the system started the assistant, and ends it. What would be said in the terminal
 * goes to the system's journal; an input that is over, as `/dev/null` always is, ends nothing.
 */
export function serviceConsole(output: Writable, errors: Writable): OwnerConsole {
  return {
    // As on a terminal, warnings are shown in words; the log's files have the rest.
    isInteractive: true,
    open: () => {},
    print: (markdown) => void output.write(`${printable(markdown)}\n`),
    notice: (text) => void errors.write(`${printable(text)}\n`),
    setActivity: () => {},
    acknowledged: () => {},
    close: () => {},
  };
}

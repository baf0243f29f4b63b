import type { Writable } from 'node:stream';
import type { OwnerConsole } from './console/owner-console.ts';
import { printable } from './console/printable.ts';

/**
 * Creates the console of a service, which has no terminal: the system started the assistant, and ends it.
 * Messages for the terminal go to the system's journal. The end of the input, which `/dev/null` always has,
 * ends nothing.
 */
export function serviceConsole(output: Writable, errors: Writable): OwnerConsole {
  return {
    // As on a terminal, warnings are shown in words; the log's files have the rest.
    isInteractive: true,
    open: () => {},
    print: (markdown) => void output.write(`${printable(markdown)}\n`),
    grow: () => {},
    notice: (text) => void errors.write(`${printable(text)}\n`),
    setActivity: () => {},
    acknowledged: () => {},
    close: () => {},
  };
}

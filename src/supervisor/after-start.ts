import { flushCompileCache } from 'node:module';

/** By then a first message has had its time, and what the start needed is garbage. */
const AFTER_MS = 5_000;

/**
 * Gives back what only the start needed, once, some seconds after it: an assistant mostly waits, and
 * without new garbage nothing would be collected for hours. Keeps what was compiled for the next start.
 */
export function collectGarbage(): void {
  setTimeout(() => {
    flushCompileCache();
    void globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_MS).unref();
}

import type { Loss } from './losses.ts';
import type { Call } from './outputs.ts';
import type { Value } from './word-values.ts';

/** Everything that a text would run, as far as it can be told before. */
export type Trace = {
  readonly calls: readonly Call[];
  /** Files that are written to; null for one that is not known. */
  readonly written: readonly Value[];
  /** Files whose content is lost, where they are there. */
  readonly losses: readonly Loss[];
  /** Text for a database. */
  readonly sql: readonly string[];
  /** Text for an interpreter of another language. */
  readonly code: readonly { readonly language: string; readonly text: string }[];
  /** Words for what is decided only when it runs. */
  readonly unknown: readonly string[];
  /** A download, or a text that is unpacked, goes to a shell. */
  readonly piped: readonly ('download' | 'unpacked')[];
  /** Functions that call themselves twice over, beside each other. */
  readonly bombs: readonly string[];
  /** Names of functions and aliases of the text. */
  readonly own: ReadonlySet<string>;
  /** Errors of the text as a shell's. */
  readonly faults: readonly string[];
};

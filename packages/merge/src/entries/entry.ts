import type { Range } from '../lines/regions.ts';

/**
 * Some lines of a text that belong together: one member of a list, with the comments and blank lines above it.
 *
 * `list` tells the list, and is the same in another version of the text. `key` is the member's name there;
 * null for lines that no list may gain.
 */
export type Entry = Range & { readonly list: string; readonly key: string | null };

/** Cuts a text, line by line and without line ends, into entries that cover it; null where it cannot be told. */
export type EntryReader = (lines: readonly string[]) => readonly Entry[] | null;

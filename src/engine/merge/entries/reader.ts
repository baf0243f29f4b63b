import type { Format } from '../syntax/language.ts';
import { readDockerfile } from './dockerfile.ts';
import type { EntryReader } from './entry.ts';
import { readKeyedLines } from './keyed-lines.ts';
import { readMarkdown } from './markdown.ts';
import { readYamlMaps } from './yaml.ts';

const READERS: ReadonlyMap<Format, EntryReader> = new Map<Format, EntryReader>([
  ['yaml', readYamlMaps],
  ['keyed-lines', readKeyedLines],
  ['dockerfile', readDockerfile],
  ['markdown', readMarkdown],
]);

/** Returns how the named entries of a format are read, line by line; null for a format with a parser. */
export function entryReader(format: Format): EntryReader | null {
  return READERS.get(format) ?? null;
}

import { eolOf, joinLines, type KeyedChunk } from '../json/keyed-lines.ts';
import { envMap } from './env.ts';
import { envValue, quoteEnv } from './env-value.ts';

const LINE =
  /^(\s*(?:export\s+)?\w+\s*=[ \t]*)("[^"]*"|'[^']*'|`[^`]*`|[^#\r\n]*?)(\s*#.*?)?(\s*)$/;

/**
 * Sets a setting of an env file, at its end where there is none yet; null takes its lines out, with the
 * comment right above it. Every other byte stays.
 *
 * @returns null for a value that is no text, or that no quotation marks can hold together
 */
export function setEnv(bytes: Buffer, name: string, value: unknown): Buffer | null {
  if (value !== null && (typeof value !== 'string' || value.includes('\r'))) return null;
  if (value?.includes('\n') && quoteEnv(value) === value) return null;
  // One byte, one character: a file that is no UTF-8 is not decoded and written back.
  const text = bytes.toString('latin1');
  const quoted = value === null ? null : quoteEnv(value).replaceAll('\n', eolOf(text));
  const written = quoted === null ? null : Buffer.from(quoted).toString('latin1');
  const { chunks, tail } = envMap(text);
  const isThere = chunks.some(({ key }) => key === name);
  const lines = chunks.flatMap((chunk) =>
    chunk.key === name ? linesWith(chunk, written) : [...chunk.lead, ...chunk.head],
  );
  const added = isThere || written === null ? [] : [`${name}=${written}${eolOf(text)}`];
  return Buffer.from(joinLines([...lines, ...tail, ...added], eolOf(text)), 'latin1');
}

/** Returns the settings of an env file with their values as programs read them. */
export function envData(bytes: Buffer): Readonly<Record<string, string>> {
  const { chunks } = envMap(bytes.toString('latin1'));
  const decode = (value: string) => envValue(Buffer.from(value, 'latin1').toString('utf8'));
  return Object.fromEntries(chunks.map(({ key, value }) => [key, decode(value)]));
}

function linesWith({ lead, head }: KeyedChunk, written: string | null): readonly string[] {
  if (written === null) return lead.slice(0, lead.findLastIndex((line) => line.trim() === '') + 1);
  const [, before = '', , comment = '', end = ''] = LINE.exec(head.join('')) ?? [];
  return [...lead, `${before}${written}${comment}${end}`];
}

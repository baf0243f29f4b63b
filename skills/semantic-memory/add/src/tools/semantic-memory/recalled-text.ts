import { localTime } from '../../host/scheduler/local-time.ts';
import { oneLine } from '../../host/scheduler/one-line.ts';
import type { Found } from './search.ts';

/** The most characters shown of one note. */
const SHOWN = 500;

/**
 * Returns a found note as a line: where it is from, and its text on one line, so that it can pass for no other.
 *
 * @param assistant how the assistant is called to the reader; its model is spoken to
 */
export function lineOf(
  { note }: Found,
  timeZone: string,
  assistant = 'you, the assistant',
): string {
  return `- [${placeOf(note, timeZone, assistant)}] ${oneLine(note.text, SHOWN)}`;
}

/** Returns as many lines as fit into so many tokens, estimated from their bytes. */
export function withinTokens(lines: readonly string[], tokens: number): readonly string[] {
  let left = tokens * 3;
  return lines.filter((line) => {
    left -= Buffer.byteLength(line);
    return left >= 0;
  });
}

function placeOf(
  { kind, source, folder, place, heading, who, saidAt }: Found['note'],
  timeZone: string,
  assistant: string,
): string {
  if (kind === 'file') {
    const under = heading === null ? '' : `, ${oneLine(heading, 60)}`;
    return `${folder === 'global' ? 'global/' : ''}${oneLine(source, 120)}:${place}${under}`;
  }
  const name = kind === 'answer' ? assistant : oneLine(who ?? '', 60);
  return `${localTime(saidAt ?? 0, timeZone)}, ${name}`;
}

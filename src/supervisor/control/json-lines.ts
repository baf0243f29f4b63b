import { StringDecoder } from 'node:string_decoder';
import { jsonWithin } from '../../lib/bounded-json.ts';

export type JsonLines = {
  /** Each line as a value; `undefined` for a line that is not JSON. */
  readonly onValue: (value: unknown) => void;
  /** A line is longer than it may be. */
  readonly onTooLong: () => void;
  readonly maxBytes: number;
};

/** Splits a stream of bytes into lines of JSON. Holds at most one line of the greatest length. */
export function jsonLines({ onValue, onTooLong, maxBytes }: JsonLines): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let isOver = false;
  return (chunk) => {
    if (isOver) return;
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onValue(jsonWithin(line));
    if (Buffer.byteLength(rest) > maxBytes) {
      isOver = true;
      rest = '';
      onTooLong();
    }
  };
}

export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

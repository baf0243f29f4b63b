/** A device that sends no newline for this long sends no lines. */
export const MAX_LINE_BYTES = 65_536;

const NEWLINE = 0x0a;

/**
 * Cuts a stream of bytes into lines. Holds at most one line: of one that is too long nothing is kept, and `onTooLong` is
 * called once.
 */
export function createLineSplitter(to: {
  readonly onLine: (line: Uint8Array) => void;
  readonly onTooLong: () => void;
}): (chunk: Uint8Array) => void {
  let held: Uint8Array[] = [];
  let size = 0;
  let isSkipping = false;

  function hold(piece: Uint8Array): void {
    if (isSkipping) return;
    size += piece.length;
    if (size <= MAX_LINE_BYTES) {
      held.push(piece);
      return;
    }
    isSkipping = true;
    held = [];
    to.onTooLong();
  }

  function end(): void {
    const line = Buffer.concat(held);
    const isWhole = !isSkipping;
    held = [];
    size = 0;
    isSkipping = false;
    if (isWhole) to.onLine(line);
  }

  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      hold(chunk.subarray(from, at));
      end();
      from = at + 1;
    }
    if (from < chunk.length) hold(chunk.subarray(from));
  };
}

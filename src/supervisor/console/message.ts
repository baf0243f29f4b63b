/** A message on its way from lines to one text: a paste is one message, and a backslash goes on. */
export interface Message {
  /** Takes a line that was ended; the message, or null while it goes on. */
  add(line: string): string | null;
  beginPaste(): void;
  endPaste(): void;
  isPasting(): boolean;
  /** Tells whether lines were taken that belong to a message that goes on. */
  isBegun(): boolean;
  drop(): void;
}

export function openMessage(): Message {
  let lines: string[] = [];
  let isPasting = false;
  return {
    add(line) {
      const goesOn = !isPasting && /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
      lines.push(goesOn ? line.slice(0, -1) : line);
      if (isPasting || goesOn) return null;
      const text = lines.join('\n').trimEnd();
      lines = [];
      return text;
    },
    beginPaste() {
      isPasting = true;
    },
    endPaste() {
      isPasting = false;
    },
    isPasting: () => isPasting,
    isBegun: () => lines.length > 0,
    drop() {
      lines = [];
    },
  };
}

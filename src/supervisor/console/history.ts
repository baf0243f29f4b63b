import { chmodSync, readFileSync, writeFileSync } from 'node:fs';

/** Earlier lines, newest first, as the line editor wants them. */
export interface History {
  readonly size: number;
  read(): readonly string[];
  /** Adds the last line, after those that other terminals have added meanwhile. */
  add(line: string): void;
}

const SIZE = 500;

/** Opens a history in a file that only its owner can read: people type secrets by mistake. */
export function historyFile(path: string): History {
  function read(): readonly string[] {
    try {
      return readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .reverse();
    } catch {
      return []; // The first start: there is none yet.
    }
  }

  return {
    size: SIZE,
    read,
    add(line) {
      const lines = [line, ...read().filter((known) => known !== line)].slice(0, SIZE);
      try {
        writeFileSync(path, `${lines.reverse().join('\n')}\n`, { mode: 0o600 });
        chmodSync(path, 0o600);
      } catch {
        // A full disk costs the history of this line, and must not cost the conversation.
      }
    },
  };
}

/** Blots keys out of bytes that pass by. */
export interface KeyFilter {
  /** Returns what can go on. Held back is only an end that may be the beginning of a key. */
  pass(chunk: Buffer): Buffer;
  /** Returns what was held back. */
  end(): Buffer;
}

/** Creates a filter for an answer: a server may repeat the key in it, also after the first byte, where it is a stream. */
export function createKeyFilter(secrets: readonly string[]): KeyFilter {
  // As bytes, so that no character of the answer can be cut.
  const keys = secrets.filter(isNoWord).map((key) => latin1(Buffer.from(key)));
  const longest = Math.max(0, ...keys.map(({ length }) => length));
  let held = '';
  return {
    pass(chunk) {
      const text = keys.reduce((rest, key) => rest.replaceAll(key, '[key]'), held + latin1(chunk));
      let begins = Math.max(0, text.length - longest + 1);
      const isBeginning = (end: string) => keys.some((key) => key.startsWith(end));
      while (begins < text.length && !isBeginning(text.slice(begins))) begins += 1;
      held = text.slice(begins);
      return Buffer.from(text.slice(0, begins), 'latin1');
    },
    end: () => Buffer.from(held, 'latin1'),
  };
}

/** Servers of one's own take any word as their key, such as `lm-studio`, and an answer may be about it. */
function isNoWord(secret: string): boolean {
  return secret.length >= 16 && /\d/.test(secret);
}

function latin1(bytes: Buffer): string {
  return bytes.toString('latin1');
}

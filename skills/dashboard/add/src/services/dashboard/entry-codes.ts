import type { LiveEvent } from '../../host/contracts/live-event.ts';

// Answers to commands bring codes that let a browser or a machine in. Whoever reads one in time has its rights, so a
// browser that may do less than the owner is shown none.

/** A code behind the `#` of a link, the code of a machine, and a line of one that is drawn for a camera. */
const CODE = /#[\w-]{43}(?![\w-])|[\w-]{200,}|[▀▄█][ ▀▄█]{19,}/gu;
/** So much of a code is of no use. */
const TOLD = 24;

export function hasCode(text: string): boolean {
  return text.search(CODE) !== -1;
}

export function withoutCodes(text: string): string {
  return text.replace(CODE, '…');
}

/** Writes a value as JSON, with the codes left out of all its texts. */
export function jsonWithoutCodes(value: unknown): string {
  return JSON.stringify(value ?? null, (_, one) =>
    typeof one === 'string' ? withoutCodes(one) : one,
  );
}

/** Writes events without codes. An answer may bring one piece by piece: of long words only the beginning is told. */
export function eventsWithoutCodes(): (event: LiveEvent) => string {
  /** By turn, how long the word is at the end of what was told. */
  const lengths = new Map<string, number>();

  function shortened(turn: string, text: string): string {
    let length = lengths.get(turn) ?? 0;
    const told = text.replace(/[\w#-]+|[^\w#-]+/gu, (part) => {
      if (!/^[\w#-]/.test(part)) {
        length = 0;
        return part.replace(/[▀▄█]/g, '');
      }
      const before = length;
      length += part.length;
      return part.slice(0, Math.max(0, TOLD - before));
    });
    lengths.set(turn, length);
    return told;
  }

  return (event) => {
    if (event.kind === 'delta') {
      return JSON.stringify({ ...event, text: shortened(event.turn, event.text) });
    }
    if (event.kind === 'ended') lengths.delete(event.turn);
    return jsonWithoutCodes(event);
  };
}

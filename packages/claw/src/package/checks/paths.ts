import { ClawError } from '../../errors.ts';

const MAX_PATH_BYTES = 1024;
const MAX_PART_BYTES = 255;
const MAX_DEPTH = 32;

const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

// Controls, bidirectional and zero-width characters, lone surrogates, and the replacement character for
// invalid bytes. Every one of them makes a path look like another.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\uFFFD]/u;

/**
 * Refuses every path but a canonical relative one that means the same file on every system.
 *
 * @throws ClawError PATH_UNSAFE whose path is the offending one, with invisible characters escaped
 */
export function checkPath(path: string): void {
  const fault = pathFault(path);
  if (fault === null) return;
  const shown = showPath(path);
  throw new ClawError('PATH_UNSAFE', `The path "${shown}" is refused: ${fault}.`, { path: shown });
}

/**
 * Makes a path fit for a terminal: characters that are invisible, or would reorder the line, become escapes.
 */
export function showPath(path: string): string {
  const escaped = [...path].map((character) =>
    INVISIBLE.test(character)
      ? `\\u{${character.codePointAt(0)?.toString(16).toUpperCase() ?? ''}}`
      : character,
  );
  return escaped.length > 200 ? `${escaped.slice(0, 200).join('')}…` : escaped.join('');
}

/** Returns the reason that a path is refused, or null for a canonical one. */
export function pathFault(path: string): string | null {
  if (path === '') return 'it is empty';
  if (INVISIBLE.test(path)) return 'it holds control, bidirectional or invisible characters';
  if (path.includes('\\')) return 'it holds a backslash; write / between folders';
  if (path.includes(':')) return 'it holds a colon';
  if (path.startsWith('/')) return 'it is absolute; write it relative to the project';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  const parts = path.split('/');
  if (parts.length > MAX_DEPTH) return `it is deeper than ${MAX_DEPTH} parts`;
  for (const part of parts) {
    const fault = partFault(part);
    if (fault !== null) return fault;
  }
  return null;
}

function partFault(part: string): string | null {
  if (part === '') return 'it has an empty part';
  if (part === '.' || part === '..') return `it has the part "${part}"`;
  if (/[. ]$/.test(part)) return 'a part ends in a dot or a space, which Windows drops';
  if (part.startsWith('-')) return 'a part begins with a dash, which commands take for an option';
  // Windows sees the device before the first dot, whatever follows.
  const stem = part.split('.')[0] ?? part;
  if (DEVICE.test(stem.trimEnd())) return `${stem} is a device on Windows`;
  if (Buffer.byteLength(part) > MAX_PART_BYTES) {
    return `a part is longer than ${MAX_PART_BYTES} bytes`;
  }
  return null;
}

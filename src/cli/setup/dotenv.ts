import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';

/**
 * Sets names in a `.env` file, in place or at the end; everything else stays as it is. The
 * file is replaced as a whole and readable by its owner alone.
 */
export function setInDotenv(path: string, values: Readonly<Record<string, string>>): void {
  // Byte by byte: another line may hold what is no UTF-8.
  const before = existsSync(path) ? readFileSync(path, 'latin1') : '';
  const lines = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  for (const [name, value] of Object.entries(values)) {
    const line = Buffer.from(`${name}=${quote(value)}`).toString('latin1');
    const at = lines.findLastIndex((known) => known.match(SETTING)?.[1] === name);
    if (at === -1) lines.push(line);
    else lines[at] = line;
  }
  writePrivately(path, Buffer.from(`${lines.join('\n')}\n`, 'latin1'));
}

/** Some editors put a byte-order mark in front of the first. */
const SETTING = /^(?:\xef\xbb\xbf)?\s*(?:export\s+)?(\w+)\s*=/;

function quote(value: string): string {
  if (/^[\w@%+=:,./-]*$/.test(value)) return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}

function writePrivately(path: string, bytes: Buffer): void {
  const temporary = `${path}.new-${process.pid}`;
  const handle = openSync(temporary, 'wx', 0o600);
  try {
    try {
      // All of it: `writeSync` may leave a part out on a full disk, and say nothing.
      writeFileSync(handle, bytes);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

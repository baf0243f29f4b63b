import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';

/**
 * Sets names in a `.env` file, in place or at the end; everything else stays as it is. The
 * file is replaced as a whole and readable by its owner alone.
 */
export function setInDotenv(path: string, values: Readonly<Record<string, string>>): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const lines = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  for (const [name, value] of Object.entries(values)) {
    const line = `${name}=${quote(value)}`;
    const at = lines.findLastIndex(
      (known) => known.match(/^\s*(?:export\s+)?(\w+)\s*=/)?.[1] === name,
    );
    if (at === -1) lines.push(line);
    else lines[at] = line;
  }
  writePrivately(path, `${lines.join('\n')}\n`);
}

function quote(value: string): string {
  if (/^[\w@%+=:,./-]*$/.test(value)) return value;
  return value.includes("'") ? `"${value}"` : `'${value}'`;
}

function writePrivately(path: string, text: string): void {
  const temporary = `${path}.new-${process.pid}`;
  const handle = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, path);
}

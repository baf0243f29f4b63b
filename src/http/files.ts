import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Returns the file with the token, which only the owner of the data folder can read. */
export function tokenFile(dataDir: string): string {
  return join(dataDir, 'http', 'token');
}

/** Reads the token, or makes one. After the file is removed, the next start makes a new token. */
export function readToken(dataDir: string): string {
  const path = tokenFile(dataDir);
  mkdirSync(join(dataDir, 'http'), { recursive: true, mode: 0o700 });
  const kept = read(path);
  if (kept !== null && TOKEN.test(kept)) {
    chmodSync(path, 0o600);
    return kept;
  }
  const token = randomBytes(32).toString('base64url');
  writeFileSync(path, `${token}\n`, { mode: 0o600 });
  // The mode of a file that is there already is not changed by writing to it.
  chmodSync(path, 0o600);
  return token;
}

/** Reads the address at which the server listened last: `http://127.0.0.1:45123`; null if it never did. */
export function readAddress(dataDir: string): string | null {
  const kept = read(addressFile(dataDir));
  return kept !== null && /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(kept) ? kept : null;
}

/** Writes the server's address to disk, for the next start and for other programs. */
export function keepAddress(dataDir: string, address: string): void {
  writeFileSync(addressFile(dataDir), `${address}\n`, { mode: 0o600 });
}

function addressFile(dataDir: string): string {
  return join(dataDir, 'http', 'address');
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null; // Nothing was kept so far.
  }
}

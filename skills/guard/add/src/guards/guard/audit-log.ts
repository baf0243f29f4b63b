import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const LARGEST_BYTES = 5_000_000;
const MOST_FILES = 6;

/** A line of the audit log: one call of a tool, when it was decided. */
export const AuditEntry = z.object({
  time: z.string(),
  /** The folder of the chat. */
  chat: z.string(),
  tool: z.string(),
  runsIn: z.enum(['host', 'container']),
  isTask: z.boolean(),
  decision: z.enum(['run', 'refused']),
  /** True if this guard had the owner asked. */
  asked: z.boolean(),
  confidence: z.number().nullable(),
  reason: z.string().nullable(),
  /** The input, with secrets masked and long texts cut. */
  input: z.unknown(),
});

export type AuditEntry = z.output<typeof AuditEntry>;

/** Returns the path of a chat's audit log; older files have a number: `audit.1.jsonl`. It is deleted with the chat. */
export function auditPath(dataDir: string, chat: string, age = 0): string {
  const name = age === 0 ? 'audit.jsonl' : `audit.${age}.jsonl`;
  return join(dataDir, 'of-chats', chat, 'guard', name);
}

/**
 * Adds a line, which is on its way to disk when this returns. Only the owner's account can read the file.
 *
 * @param largestBytes after which the file gets a number, and the oldest goes
 */
export function addEntry(dataDir: string, entry: AuditEntry, largestBytes = LARGEST_BYTES): void {
  const path = auditPath(dataDir, entry.chat);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    fchmodSync(file, 0o600);
    const found = fstatSync(file);
    if (!found.isFile()) throw new Error(`${path} is not a file.`);
    const begin = endsInLine(file, found.size) ? '' : '\n';
    writeWhole(file, Buffer.from(`${begin}${JSON.stringify(entry)}\n`));
    if (fstatSync(file).size > largestBytes) rotate(dataDir, entry.chat);
  } finally {
    closeSync(file);
  }
}

/** Half a line of a crash or a full disk would take the next one with it. */
function endsInLine(file: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last.toString() === '\n';
}

/** On a full disk a part of a line is written without an error. */
function writeWhole(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function rotate(dataDir: string, chat: string): void {
  for (let age = MOST_FILES - 1; age >= 1; age -= 1) {
    const younger = auditPath(dataDir, chat, age - 1);
    if (existsSync(younger)) renameSync(younger, auditPath(dataDir, chat, age));
  }
}

/** Returns the paths of the newest audit log of each chat. */
export function auditPaths(dataDir: string): readonly string[] {
  return chatsIn(dataDir)
    .map((chat) => auditPath(dataDir, chat))
    .filter((path) => existsSync(path));
}

/** Returns the last entries of all chats that fit, the newest first. */
export function lastEntries(
  dataDir: string,
  fits: (entry: AuditEntry) => boolean,
  most: number,
): readonly AuditEntry[] {
  return chatsIn(dataDir)
    .flatMap((chat) => lastOfChat(dataDir, chat, { fits, most }))
    .toSorted((one, other) => (one.time === other.time ? 0 : one.time < other.time ? 1 : -1))
    .slice(0, most);
}

function chatsIn(dataDir: string): readonly string[] {
  const folder = join(dataDir, 'of-chats');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

type Wanted = { readonly fits: (entry: AuditEntry) => boolean; readonly most: number };

/** A line that was cut off by a crash is left out. */
function lastOfChat(dataDir: string, chat: string, { fits, most }: Wanted): readonly AuditEntry[] {
  const found: AuditEntry[] = [];
  for (let age = 0; age < MOST_FILES && found.length < most; age += 1) {
    const path = auditPath(dataDir, chat, age);
    if (!existsSync(path)) continue;
    for (const line of readFileSync(path, 'utf8').split('\n').reverse()) {
      const entry = entryIn(line);
      if (entry !== null && fits(entry)) found.push(entry);
      if (found.length === most) break;
    }
  }
  return found;
}

function entryIn(line: string): AuditEntry | null {
  if (line === '') return null;
  try {
    return AuditEntry.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null; // Half a line, of a crash: the call that it was about did not run.
  }
}

import { join } from 'node:path';
import { type Api, GrammyError } from 'grammy/web';
import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';
import type { FetchedAttachment } from '../channel.ts';
import { keepFetched } from '../kit/fetched-file.ts';
import type { FileReference } from './content.ts';
import { causeOf, TelegramError } from './failure.ts';
import type { TelegramSettings } from './settings.ts';
import { forGrammy } from './signal.ts';

/** The most that the Bot API gives out to a bot. */
const LIMIT_BYTES = 20_000_000;
const FETCH_MS = 60_000;
const KEPT_MS = 30 * 86_400_000;

/** The table of references to files, in the channel's database. */
export const FILE_MIGRATIONS = [
  `CREATE TABLE file (
     jid TEXT NOT NULL, id TEXT NOT NULL, file_id TEXT NOT NULL, size_bytes INTEGER, name TEXT,
     seen_at INTEGER NOT NULL, PRIMARY KEY (jid, id)
   ) STRICT;
   CREATE INDEX file_by_time ON file (seen_at);`,
];

const Row = z.object({
  fileId: z.string(),
  sizeBytes: z.number().nullable(),
  name: z.string().nullable(),
});

/** References to the files that came with messages. They are on disk; contents are fetched when asked for. */
export interface FileReferences {
  keep(jid: string, messageId: string, file: FileReference): void;
  of(jid: string, messageId: string): FileReference | null;
  forgetChat(jid: string): void;
}

/** Opens the references, in a database that has the table for them, and forgets those of a month ago. */
export function openFileReferences(openDatabase: OpenDatabase, now: () => number): FileReferences {
  // What was sent is in the same database, which was opened with the migrations of both.
  const database = openDatabase([]);
  const insert = database.prepare(
    `INSERT OR IGNORE INTO file (jid, id, file_id, size_bytes, name, seen_at)
     VALUES (:jid, :messageId, :fileId, :sizeBytes, :name, :now)`,
  );
  const find = database.prepare(
    'SELECT file_id AS fileId, size_bytes AS sizeBytes, name FROM file WHERE jid = ? AND id = ?',
  );
  const forget = database.prepare('DELETE FROM file WHERE jid = ?');
  database.prepare('DELETE FROM file WHERE seen_at < ?').run(now() - KEPT_MS);
  return {
    keep: (jid, messageId, file) => void insert.run({ jid, messageId, ...file, now: now() }),
    of: (jid, messageId) => Row.optional().parse(find.get(jid, messageId)) ?? null,
    forgetChat: (jid) => void forget.run(jid),
  };
}

/** Returns the folder of files that were fetched and that the host has not yet taken. */
export function fetchedFolder(dataDir: string): string {
  return join(dataDir, 'telegram', 'media');
}

type Download = {
  readonly api: Api;
  readonly bot: TelegramSettings;
  readonly folder: string;
  readonly signal: AbortSignal;
};

/**
 * Fetches a file.
 *
 * @throws TelegramError FILE_TOO_LARGE, FILE_GONE, UNREACHABLE. It holds no cause: causes quote the address, and the
 * address holds the token.
 */
export async function fetchFile(
  { api, bot, folder, signal: stop }: Download,
  { fileId, sizeBytes, name }: FileReference,
): Promise<FetchedAttachment> {
  if ((sizeBytes ?? 0) > LIMIT_BYTES) throw tooLarge();
  const signal = AbortSignal.any([stop, AbortSignal.timeout(FETCH_MS)]);
  const path = await pathOf(api, fileId, signal);
  const content = await download(addressOf(bot, path), signal);
  return keepFetched(folder, content, name);
}

async function pathOf(api: Api, fileId: string, signal: AbortSignal): Promise<string> {
  let file: Awaited<ReturnType<Api['getFile']>>;
  try {
    file = await api.getFile(fileId, forGrammy(signal));
  } catch (error) {
    if (!(error instanceof GrammyError)) throw unreachable(causeOf(error));
    if (/file is too big/i.test(error.description)) throw tooLarge();
    throw error.error_code === 400 ? gone() : unreachable(`error ${error.error_code}`);
  }
  if ((file.file_size ?? 0) > LIMIT_BYTES) throw tooLarge();
  if (file.file_path === undefined) throw gone();
  return file.file_path;
}

function addressOf({ apiRoot, token }: TelegramSettings, path: string): string {
  const steps = path.split('/');
  // A server of one's own in its mode --local names a file of its own disk, which it does not serve.
  if (path.startsWith('/') || steps.includes('..')) {
    throw new TelegramError(
      'FILE_GONE',
      'The file could not be fetched: the Bot API server runs with --local, and does not give files out.',
    );
  }
  return `${apiRoot}/file/bot${token}/${steps.map(encodeURIComponent).join('/')}`;
}

async function download(address: string, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    // Elsewhere the token in the address would be told to another server.
    const response = await fetch(address, { signal, redirect: 'error' });
    if (!response.ok) {
      await response.body?.cancel();
      const isGone = response.status >= 400 && response.status < 500 && response.status !== 429;
      throw isGone ? gone() : unreachable(`error ${response.status}`);
    }
    for await (const chunk of response.body ?? []) {
      sizeBytes += chunk.length;
      if (sizeBytes > LIMIT_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof TelegramError) throw error;
    throw unreachable(causeOf(error));
  }
  return Buffer.concat(chunks);
}

function tooLarge(): TelegramError {
  const limit = LIMIT_BYTES / 1_000_000;
  const text = `The file is larger than ${limit} MB, the most that Telegram gives out to a bot.`;
  return new TelegramError('FILE_TOO_LARGE', text);
}

function gone(): TelegramError {
  return new TelegramError(
    'FILE_GONE',
    'The file could not be fetched (Telegram does not give it out any more). Ask for it to be sent again.',
  );
}

function unreachable(cause: string): TelegramError {
  return new TelegramError(
    'UNREACHABLE',
    `The file could not be fetched (Telegram cannot be reached: ${cause}). Try again later.`,
  );
}

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { FetchedAttachment } from '../../channel.ts';
import { dropFetched, keepFetched } from '../../kit/fetched-file.ts';
import { WhatsAppError } from '../failure.ts';
import type { Baileys } from '../session/baileys.ts';
import type { LinkDatabase } from '../session/link-database.ts';
import type { MediaPart } from './content.ts';

/** The server of files, and the largest file that is fetched. */
export type MediaOptions = { readonly url: string; readonly limitBytes: number };

const FETCH_MS = 60_000;

const Row = z.object({ json: z.string() });
const Bytes = z.instanceof(Uint8Array);
const Kept = z.object({
  name: z.string().nullable(),
  sizeBytes: z.number().nullable(),
  type: z.enum(['image', 'video', 'audio', 'document', 'sticker']),
  directPath: z.string(),
  mediaKey: Bytes,
  fileSha256: Bytes.nullable(),
});

/** The files that came with messages: references are kept, contents are fetched when asked for. */
export interface Media {
  keep(jid: string, messageId: string, part: MediaPart): void;
  /** @throws WhatsAppError MEDIA_UNKNOWN, MEDIA_TOO_LARGE, MEDIA_GONE */
  fetch(jid: string, messageId: string): Promise<FetchedAttachment>;
}

export function openMedia(
  linkDatabase: LinkDatabase,
  baileys: Baileys,
  options: MediaOptions,
): Media {
  const { BufferJSON } = baileys;
  const insert = linkDatabase.database.prepare(
    'INSERT OR IGNORE INTO media (jid, id, json, seen_at) VALUES (?, ?, ?, ?)',
  );
  const find = linkDatabase.database.prepare('SELECT json FROM media WHERE jid = ? AND id = ?');
  const folder = join(linkDatabase.folder, 'media');
  dropFetched(folder);
  return {
    keep(jid, messageId, { attachment: { name, sizeBytes }, source }) {
      const kept = JSON.stringify({ name, sizeBytes, ...source }, BufferJSON.replacer);
      insert.run(jid, messageId, kept, linkDatabase.now());
    },
    async fetch(jid, messageId) {
      const row = Row.optional().parse(find.get(jid, messageId));
      if (row === undefined) {
        throw new WhatsAppError('MEDIA_UNKNOWN', `Message ${messageId} came without a file.`);
      }
      const kept = Kept.parse(JSON.parse(row.json, BufferJSON.reviver));
      if ((kept.sizeBytes ?? 0) > options.limitBytes) throw tooLarge(options.limitBytes);
      const content = await download(baileys, options, kept);
      const digest = createHash('sha256').update(content).digest();
      if (kept.fileSha256 !== null && !digest.equals(kept.fileSha256)) {
        throw gone('it is not the file that was sent');
      }
      return keepFetched(folder, content, kept.name);
    },
  };
}

async function download(
  baileys: Baileys,
  { url, limitBytes }: MediaOptions,
  { directPath, mediaKey, type }: z.output<typeof Kept>,
): Promise<Buffer> {
  const address = new URL(directPath, url);
  // The path is the sender's: it must not lead to another server.
  if (address.origin !== new URL(url).origin) throw gone('its address is not WhatsApp’s');
  const keys = await baileys.getMediaKeys(Buffer.from(mediaKey), type);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    const signal = AbortSignal.timeout(FETCH_MS);
    const stream = await baileys.downloadEncryptedContent(address.href, keys, {
      options: { signal },
    });
    for await (const chunk of stream) {
      const bytes = Buffer.from(Bytes.parse(chunk));
      sizeBytes += bytes.length;
      if (sizeBytes > limitBytes) throw tooLarge(limitBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    throw error instanceof WhatsAppError ? error : gone('WhatsApp does not give it out', error);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limitBytes: number): WhatsAppError {
  const limit = Math.floor(limitBytes / 1_000_000);
  return new WhatsAppError('MEDIA_TOO_LARGE', `The file is larger than ${limit} MB.`);
}

function gone(reason: string, cause?: unknown): WhatsAppError {
  return new WhatsAppError(
    'MEDIA_GONE',
    `The file could not be fetched (${reason}). Ask for it to be sent again.`,
    { cause },
  );
}

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { pictureHead } from '../../lib/picture-head.ts';
import type { FetchedAttachment, OutboundFile } from '../channel.ts';
import { keepFetched } from '../kit/fetched-file.ts';
import { kindOf } from '../kit/file-kind.ts';
import { type MatrixApi, MatrixFailure } from './api.ts';
import type { Encryption } from './encryption/encryption.ts';
import { MatrixError } from './error.ts';
import type { FileReference } from './records/file-references.ts';

/** Larger files are not held in memory. */
const LIMIT_BYTES = 50_000_000;
const TRANSFER_MS = 120_000;

const Uploaded = z.looseObject({ content_uri: z.string() });

/** A server for files, and the keys to those that are encrypted. */
export type FileParts = { readonly api: MatrixApi; readonly encryption: Encryption };

/** Fetches a file, and decrypts it where it is encrypted. @throws MatrixError */
export async function fetchFile(
  {
    api,
    encryption,
    folder,
    signal,
  }: FileParts & { readonly folder: string; readonly signal: AbortSignal },
  { url, name, sizeBytes, encryption: keys }: FileReference,
): Promise<FetchedAttachment> {
  if ((sizeBytes ?? 0) > LIMIT_BYTES) throw tooLarge();
  const content = await download(
    api,
    url,
    AbortSignal.any([signal, AbortSignal.timeout(TRANSFER_MS)]),
  );
  if (keys === null) return keepFetched(folder, content, name);
  const machine = await encryption.opened();
  let plain: Uint8Array;
  try {
    plain = machine.decryptFile(content, keys);
  } catch {
    const text =
      'The file could not be decrypted: it is not the one that was sent. Ask for it again.';
    throw new MatrixError('FILE_DAMAGED', text);
  }
  return keepFetched(folder, plain, name);
}

/** Uploads a file, encrypted for an encrypted room, and returns the content of the message that shows it. */
export async function uploadFile(
  { api, encryption }: FileParts,
  file: OutboundFile,
  { isEncrypted, signal }: { readonly isEncrypted: boolean; readonly signal: AbortSignal },
): Promise<object> {
  const content = new Uint8Array(await readFile(file.path));
  const { mimeType } = kindOf(content);
  const machine = isEncrypted ? await encryption.opened() : null;
  const locked = machine?.encryptFile(content) ?? null;
  const bytes = {
    content: new Uint8Array(locked?.content ?? content),
    type: locked === null ? mimeType : 'application/octet-stream',
  };
  // A name beside a file that is encrypted would be there for all to read.
  const name = locked === null ? `?filename=${encodeURIComponent(file.name)}` : '';
  const path = `/_matrix/media/v3/upload${name}`;
  const answer = await api.call('POST', path, { bytes, signal, timeoutMs: TRANSFER_MS });
  const { content_uri: url } = Uploaded.parse(answer);
  return {
    msgtype: typeOf(mimeType),
    body: file.name,
    filename: file.name,
    info: { mimetype: mimeType, size: content.length, ...pictureSize(content) },
    ...(locked === null ? { url } : { file: { ...(locked.keys as object), url } }),
  };
}

/** Clients lay out a picture before it has come, by its size in pixels. */
function pictureSize(content: Uint8Array): object {
  const head = pictureHead(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
  return head === null ? {} : { w: head.width, h: head.height };
}

function typeOf(mimeType: string): string {
  const [kind = ''] = mimeType.split('/');
  return ['image', 'video', 'audio'].includes(kind) ? `m.${kind}` : 'm.file';
}

async function download(api: MatrixApi, url: string, signal: AbortSignal): Promise<Uint8Array> {
  const [, server, id] = /^mxc:\/\/([^/]+)\/([^/?#]+)$/.exec(url) ?? [];
  if (server === undefined || id === undefined) throw gone();
  const place = `${encodeURIComponent(server)}/${encodeURIComponent(id)}`;
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    const response = await whereItIs(api, place, signal);
    for await (const chunk of response.body ?? []) {
      sizeBytes += chunk.length;
      if (sizeBytes > LIMIT_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof MatrixError) throw error;
    if (error instanceof MatrixFailure && error.errcode === 'M_TOO_LARGE') throw tooLarge();
    const status = error instanceof MatrixFailure ? error.status : null;
    if (status !== null && status < 500 && status !== 429) throw gone();
    const cause = error instanceof Error ? error.message : 'unknown error';
    throw new MatrixError(
      'UNREACHABLE',
      `The file could not be fetched (the homeserver cannot be reached: ${cause}). Try again later.`,
    );
  }
  return Buffer.concat(chunks);
}

/** Servers from before 2024 have files at another place. */
async function whereItIs(api: MatrixApi, place: string, signal: AbortSignal): Promise<Response> {
  try {
    return await api.download(`/_matrix/client/v1/media/download/${place}`, signal);
  } catch (error) {
    if (!(error instanceof MatrixFailure) || error.errcode !== 'M_UNRECOGNIZED') throw error;
    return await api.download(`/_matrix/media/v3/download/${place}`, signal);
  }
}

function tooLarge(): MatrixError {
  const limit = LIMIT_BYTES / 1_000_000;
  return new MatrixError(
    'FILE_TOO_LARGE',
    `The file is larger than ${limit} MB, the most that is fetched from Matrix.`,
  );
}

function gone(): MatrixError {
  return new MatrixError(
    'FILE_GONE',
    'The file could not be fetched (it is gone from its server). Ask for it to be sent again.',
  );
}

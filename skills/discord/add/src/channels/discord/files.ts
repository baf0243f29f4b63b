import type { REST } from '@discordjs/rest';
import type { FetchedAttachment } from '../channel.ts';
import { keepFetched } from '../kit/fetched-file.ts';
import { DiscordError } from './error.ts';
import { causeOf, readFailure } from './failure.ts';
import { type FarAttachment, Message } from './inbound/event.ts';
import { farMessageIn } from './jid.ts';
import type { FileReference } from './records/file-references.ts';

/** Larger files are not held in memory. */
const LIMIT_BYTES = 50_000_000;
const FETCH_MS = 60_000;
/**
 * Fetches a file.
 *
 * @throws DiscordError FILE_TOO_LARGE, FILE_GONE, UNREACHABLE
 */
export async function fetchFile(
  {
    api,
    folder,
    signal: stop,
  }: { readonly api: REST; readonly folder: string; readonly signal: AbortSignal },
  reference: FileReference,
): Promise<FetchedAttachment> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(FETCH_MS)]);
  const { url, size, filename } = await describedAt(api, reference, signal);
  if ((size ?? 0) > LIMIT_BYTES) throw tooLarge();
  return keepFetched(folder, await download(url, signal), filename);
}

async function describedAt(
  api: REST,
  { farId, attachmentId }: FileReference,
  signal: AbortSignal,
): Promise<FarAttachment> {
  const { channelId, messageId } = farMessageIn(farId);
  let answer: unknown;
  try {
    answer = await api.get(`/channels/${channelId}/messages/${messageId}`, { signal });
  } catch (error) {
    const failure = readFailure(error);
    if (failure.kind === 'refused') throw gone();
    throw unreachable(failure.kind === 'unreachable' ? failure.cause : failure.kind);
  }
  const { attachments = [], message_snapshots: snapshots = [] } =
    Message.safeParse(answer).data ?? {};
  // Files of a forward are in what was forwarded.
  const all = [...attachments, ...snapshots.flatMap(({ message }) => message.attachments)];
  const file = all.find(({ id }) => id === attachmentId);
  if (file === undefined) throw gone();
  return file;
}

async function download(address: string, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
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
    throw error instanceof DiscordError ? error : unreachable(causeOf(error));
  }
  return Buffer.concat(chunks);
}

function tooLarge(): DiscordError {
  const limit = LIMIT_BYTES / 1_000_000;
  return new DiscordError(
    'FILE_TOO_LARGE',
    `The file is larger than ${limit} MB, the most that is fetched from Discord.`,
  );
}

function gone(): DiscordError {
  return new DiscordError(
    'FILE_GONE',
    'The file could not be fetched (it, or its message, is gone from Discord). Ask for it to be sent again.',
  );
}

function unreachable(cause: string): DiscordError {
  return new DiscordError(
    'UNREACHABLE',
    `The file could not be fetched (Discord cannot be reached: ${cause}). Try again later.`,
  );
}

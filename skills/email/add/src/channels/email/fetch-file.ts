import type { ImapFlow } from 'imapflow';
import type { FetchedAttachment } from '../channel.ts';
import { keepFetched } from '../kit/fetched-file.ts';
import { EmailError } from './failure.ts';
import type { FilePlace } from './records.ts';

/** Larger files are not held in memory. */
const LIMIT_BYTES = 25_000_000;

/**
 * Fetches a file of a mail from the mailbox.
 *
 * @throws EmailError FILE_TOO_LARGE, FILE_GONE
 */
export async function fetchFile(
  client: ImapFlow,
  folder: string,
  { uid, part, size, name }: FilePlace,
): Promise<FetchedAttachment> {
  if (size > LIMIT_BYTES) throw tooLarge();
  const found = await client.download(String(uid), part, { uid: true, maxBytes: LIMIT_BYTES + 1 });
  if (found.content === undefined) throw gone();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of found.content) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > LIMIT_BYTES) throw tooLarge();
  }
  return keepFetched(folder, Buffer.concat(chunks), name);
}

/** Makes the error for a file whose mail is not in the mailbox any more. */
export function gone(): EmailError {
  return new EmailError(
    'FILE_GONE',
    'The file could not be fetched (its mail is gone from the mailbox). Ask for it to be sent again.',
  );
}

function tooLarge(): EmailError {
  return new EmailError(
    'FILE_TOO_LARGE',
    `The file is larger than ${LIMIT_BYTES / 1_000_000} MB, the most that is fetched from a mailbox.`,
  );
}

import { join } from 'node:path';
import { z } from 'zod';
import type { FetchedAttachment } from '../channel.ts';
import { keepFetched } from '../kit/fetched-file.ts';
import { HttpFailure } from '../kit/http.ts';
import { SignalError } from './failure.ts';
import { receiverIn } from './jid.ts';
import type { FileReference } from './records.ts';
import { type CallRpc, RpcError } from './rpc.ts';

/** signal-cli gives a file out in one piece of JSON, which is held in memory. */
const LIMIT_BYTES = 50_000_000;

const Data = z.looseObject({ data: z.string() });

/** Returns the folder of files that were fetched and that the host has not yet taken. */
export function fetchedFolder(dataDir: string): string {
  return join(dataDir, 'signal', 'media');
}

/** Fetches a file that signal-cli has. @throws SignalError FILE_TOO_LARGE, FILE_GONE */
export async function fetchFile(
  {
    call,
    account,
    folder,
    signal,
  }: {
    readonly call: CallRpc;
    readonly account: string;
    readonly folder: string;
    readonly signal: AbortSignal;
  },
  jid: string,
  { farId: id, size, name }: FileReference,
): Promise<FetchedAttachment> {
  if ((size ?? 0) > LIMIT_BYTES) {
    const limit = LIMIT_BYTES / 1_000_000;
    const text = `The file is larger than ${limit} MB, the most that is taken from signal-cli.`;
    throw new SignalError('FILE_TOO_LARGE', text);
  }
  const receiver = receiverIn(jid);
  const from =
    receiver?.kind === 'group' ? { groupId: receiver.id } : { recipient: receiver?.address };
  try {
    const answer = Data.parse(await call('getAttachment', { account, id, ...from }, signal));
    return keepFetched(folder, Buffer.from(answer.data, 'base64'), name);
  } catch (error) {
    if (error instanceof HttpFailure) {
      const text = `The file could not be fetched (signal-cli cannot be reached: ${error.message}). Try again later.`;
      throw new SignalError('NOT_CONNECTED', text);
    }
    if (!(error instanceof RpcError || error instanceof z.ZodError)) throw error;
    const text =
      'The file could not be fetched: signal-cli does not have it (any more). Ask for it to be sent again.';
    throw new SignalError('FILE_GONE', text);
  }
}

import { stat } from 'node:fs/promises';
import { inOwnProcess } from '../files/in-own-process.ts';

/** A picture as a model is sent it. */
export type PictureForModel = {
  readonly mediaType: string;
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
};

/** Larger files are not read. */
const MAX_FILE_BYTES = 30_000_000;
/** Models' servers make larger ones smaller themselves, or refuse them. */
const MAX_EDGE = 1_568;
/** Four are less than 4 MB in a request, which every usual server takes; ten far less than the host's proxy does. */
const MAX_SENT_BYTES = 700_000;
const TIMEOUT_MS = 20_000;

/**
 * Reads a picture for a model, decoded and scaled down in a process of its own.
 *
 * @throws Error with the reason as the end of a sentence: `it is damaged`
 */
export async function readPicture(path: string, signal?: AbortSignal): Promise<PictureForModel> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new Error('it is not there any more');
  if (found.size > MAX_FILE_BYTES) {
    throw new Error(`it is larger than ${MAX_FILE_BYTES / 1_000_000} MB`);
  }
  const input = { path, maxEdge: MAX_EDGE, maxBytes: MAX_SENT_BYTES };
  const read = await inOwnProcess({ name: 'picture', input, timeoutMs: TIMEOUT_MS, signal });
  return read as PictureForModel;
}

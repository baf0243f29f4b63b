import { openAsBlob } from 'node:fs';
import type * as webApi from '@slack/web-api';
import type { OutboundFile } from '../channel.ts';
import { SlackError } from './failure.ts';

/** The place of a file: a channel, and a thread there. */
export type FilePlace = {
  readonly channel: string;
  readonly thread: string | undefined;
  /** Told Slack's id of the file before people see it. */
  readonly onUploaded: (fileId: string) => void;
};

/**
 * Uploads a file and shows it in a channel. People see nothing of it before the last request.
 *
 * @throws SlackError UNREACHABLE where the upload broke off, and whatever Slack's client throws
 */
export async function uploadFile(
  web: webApi.WebClient,
  { path, name, sizeBytes }: OutboundFile,
  { channel, thread, onUploaded, signal }: FilePlace & { readonly signal: AbortSignal },
): Promise<void> {
  const place = await web.files.getUploadURLExternal({ filename: name, length: sizeBytes });
  const { upload_url: address, file_id: id } = place;
  if (address === undefined || id === undefined) {
    throw new SlackError('UNREACHABLE', 'Slack gave no place to upload a file to.');
  }
  await sendBytes(address, path, signal);
  onUploaded(id);
  await web.files.completeUploadExternal({
    files: [{ id, title: name }],
    channel_id: channel,
    ...(thread === undefined ? {} : { thread_ts: thread }),
  });
}

async function sendBytes(address: string, path: string, signal: AbortSignal): Promise<void> {
  const body = await openAsBlob(path);
  const status = await fetch(address, { method: 'POST', body, signal }).then(
    (response) => response.status,
    () => null,
  );
  if (status === 200) return;
  const how = status === null ? 'broke off' : `ended with HTTP ${status}`;
  throw new SlackError('UNREACHABLE', `The upload of a file to Slack ${how}.`);
}

import { createReadStream } from 'node:fs';
import { type Api, GrammyError, InputFile } from 'grammy/web';
import type { OutboundFile } from '../channel.ts';
import { headOf, kindOf } from '../kit/file-kind.ts';
import { forGrammy } from './signal.ts';

/** Telegram refuses larger pictures as pictures. */
const MAX_PHOTO_BYTES = 10_000_000;
const PHOTOS = ['image/jpeg', 'image/png'];

/** The chat that a file goes to, its topic there, and the message that it answers. */
export type FilePlace = {
  readonly chatId: number;
  readonly options: NonNullable<Parameters<Api['sendDocument']>[2]>;
};

/**
 * Sends a picture as a picture, a voice recording as a voice message, and any other file as a document. So goes what
 * Telegram does not take otherwise, such as a picture that is too narrow, or a voice message that a person does not let in.
 */
export async function sendFile(
  api: Api,
  file: OutboundFile,
  { chatId, options }: FilePlace,
  signal: AbortSignal,
): Promise<void> {
  const form = formOf(file, await headOf(file.path));
  // A stream is read once: each attempt has its own.
  const content = () => new InputFile(bytesOf(file.path), quoted(file.name));
  const cut = forGrammy(signal);
  try {
    if (form === 'photo') return void (await api.sendPhoto(chatId, content(), options, cut));
    if (form === 'voice') return void (await api.sendVoice(chatId, content(), options, cut));
  } catch (error) {
    if (!(error instanceof GrammyError) || error.error_code !== 400) throw error;
  }
  await api.sendDocument(chatId, content(), options, cut);
}

function formOf({ sizeBytes }: OutboundFile, head: Uint8Array): 'photo' | 'voice' | 'document' {
  const { mimeType } = kindOf(head);
  if (PHOTOS.includes(mimeType) && sizeBytes <= MAX_PHOTO_BYTES) return 'photo';
  // Telegram plays Ogg as a voice message only with Opus in it.
  const isVoice = mimeType === 'audio/ogg' && Buffer.from(head).includes('OpusHead');
  return isVoice ? 'voice' : 'document';
}

/** Reads a file as it is sent: grammY's part for browsers, which is the smaller one, knows no paths. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}

/** grammY writes the name as it is given into a header, where a space or a semicolon would end it. */
function quoted(name: string): string {
  return `"${name.replace(/["\\\p{Cc}]/gu, '_')}"`;
}

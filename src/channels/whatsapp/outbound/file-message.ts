import type { AnyMediaMessageContent, proto, WASocket } from '@whiskeysockets/baileys';
import type { OutboundFile } from '../../channel.ts';
import { headOf, kindOf } from '../../kit/file-kind.ts';
import { WhatsAppError } from '../failure.ts';
import type { Baileys } from '../session/baileys.ts';
import type { Sent } from './sent.ts';

const UPLOAD_MS = 60_000;
/** Larger pictures go as documents: WhatsApp refuses them as pictures. */
const MAX_PICTURE_BYTES = 5_000_000;
const PICTURES = ['image/jpeg', 'image/png'];

type Parts = {
  readonly baileys: Baileys;
  readonly socket: WASocket;
  readonly sent: Sent;
};

/**
 * Uploads a file, and returns the message that carries it. The message is kept before it is sent, so that a
 * repetition is the same message, and the file is not uploaded again.
 *
 * @throws WhatsAppError UPLOAD_FAILED
 */
export async function uploadedFile(
  { baileys, socket, sent }: Parts,
  { jid, id, file }: { readonly jid: string; readonly id: string; readonly file: OutboundFile },
): Promise<proto.IMessage> {
  const kept = sent.fileOf(id);
  if (kept !== null) return baileys.proto.Message.decode(kept);
  try {
    const message = await baileys.generateWAMessageContent(await contentOf(file), {
      upload: socket.waUploadToServer,
      mediaUploadTimeoutMs: UPLOAD_MS,
      jid,
    });
    sent.keepFile(id, baileys.proto.Message.encode(message).finish());
    return message;
  } catch (cause) {
    const text = `The file ${file.name} could not be uploaded to WhatsApp; it is not sent.`;
    throw new WhatsAppError('UPLOAD_FAILED', text, { cause });
  }
}

async function contentOf({ path, name, sizeBytes }: OutboundFile): Promise<AnyMediaMessageContent> {
  const { mimeType } = kindOf(await headOf(path));
  const media = { url: path };
  return PICTURES.includes(mimeType) && sizeBytes <= MAX_PICTURE_BYTES
    ? // Baileys makes no thumbnail of its own where one is given; it would need another package.
      { image: media, mimetype: mimeType, jpegThumbnail: '' }
    : { document: media, mimetype: mimeType, fileName: name };
}

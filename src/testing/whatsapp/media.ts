import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { Agent } from 'node:https';
import { connect, type Socket } from 'node:net';
import {
  downloadEncryptedContent,
  getMediaKeys,
  type MediaType,
  type proto,
} from '@whiskeysockets/baileys';

/** A file as a sender attaches it. */
export type MediaFile = {
  readonly type: MediaType;
  readonly bytes: Buffer;
  readonly mimetype: string;
};

/** Encrypts a file as WhatsApp's clients do before they upload it. */
export async function sealMedia({ type, bytes, mimetype }: MediaFile) {
  const mediaKey = randomBytes(32);
  const { cipherKey, iv, macKey } = await getMediaKeys(mediaKey, type);
  if (!macKey) throw new Error('Baileys derives no key for the signature');
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const mac = createHmac('sha256', macKey).update(iv).update(sealed).digest().subarray(0, 10);
  const content = Buffer.concat([sealed, mac]);
  const digest = (data: Buffer) => createHash('sha256').update(data).digest();
  return {
    path: `/media/${digest(content).toString('hex')}.enc`,
    content,
    fields: {
      mediaKey,
      mimetype,
      fileLength: bytes.length,
      fileSha256: digest(bytes),
      fileEncSha256: digest(content),
    },
  };
}

/** Opens a file that the device under test has sent, as its recipients do. */
export async function openMedia(
  filesUrl: string,
  { directPath, mediaKey }: Pick<proto.Message.IDocumentMessage, 'directPath' | 'mediaKey'>,
  type: MediaType,
): Promise<Buffer> {
  const keys = await getMediaKeys(mediaKey ?? null, type);
  const stream = await downloadEncryptedContent(`${filesUrl}${directPath}`, keys);
  return Buffer.concat(await stream.toArray());
}

/** Uploads without TLS, which the test server does not speak; WhatsApp's own takes nothing else. */
export class PlainAgent extends Agent {
  override createConnection({ host, port }: { host?: string; port?: number }): Socket {
    return connect({ host: host ?? '127.0.0.1', port: Number(port) });
  }
}

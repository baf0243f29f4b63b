import type { proto, WASocket } from '@whiskeysockets/baileys';
import type { Recording } from '../../../lib/voice/opus.ts';
import { WhatsAppError } from '../failure.ts';
import type { Baileys } from '../session/baileys.ts';
import type { Sent } from './sent.ts';

const UPLOAD_MS = 60_000;

type Parts = {
  readonly baileys: Baileys;
  readonly socket: WASocket;
  readonly sent: Sent;
};

/**
 * Uploads a recording, and returns the message that plays it as a voice note. It is kept before it is sent, so that a
 * repetition is the same message.
 *
 * @throws WhatsAppError UPLOAD_FAILED
 */
export async function voiceMessage(
  { baileys, socket, sent }: Parts,
  { jid, id }: { readonly jid: string; readonly id: string },
  { bytes, seconds, waveform }: Recording,
): Promise<proto.IMessage> {
  const kept = sent.fileOf(id);
  if (kept !== null) return baileys.proto.Message.decode(kept);
  try {
    const content = {
      audio: Buffer.from(bytes),
      mimetype: 'audio/ogg; codecs=opus',
      ptt: true,
      // Baileys takes these, and would need two more packages to find them itself.
      seconds: Math.max(1, Math.round(seconds)),
      waveform,
    };
    const message = await baileys.generateWAMessageContent(content, {
      upload: socket.waUploadToServer,
      mediaUploadTimeoutMs: UPLOAD_MS,
      jid,
    });
    sent.keepFile(id, baileys.proto.Message.encode(message).finish());
    return message;
  } catch (cause) {
    const text = 'The voice note could not be uploaded to WhatsApp; it is not sent.';
    throw new WhatsAppError('UPLOAD_FAILED', text, { cause });
  }
}

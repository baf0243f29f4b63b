import type { RawFile } from '@discordjs/rest';
import type { Recording } from '../../lib/voice/opus.ts';

const IS_VOICE_MESSAGE = 1 << 13;
const LOUDEST = 255;

/** The request that sends a recording as a voice message: Discord draws it by its waveform. */
export function voiceUpload({ bytes, seconds, waveform }: Recording): {
  readonly body: object;
  readonly files: RawFile[];
} {
  const name = 'voice-message.ogg';
  const bars = waveform.map((value) => Math.round((value / 100) * LOUDEST));
  const attachment = {
    id: '0',
    filename: name,
    duration_secs: seconds,
    waveform: Buffer.from(bars).toString('base64'),
  };
  return {
    body: { flags: IS_VOICE_MESSAGE, attachments: [attachment] },
    files: [{ name, data: Buffer.from(bytes), contentType: 'audio/ogg' }],
  };
}

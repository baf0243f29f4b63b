import { type Api, InputFile } from 'grammy/web';
import type { Recording } from '../../lib/voice/opus.ts';
import { forGrammy } from './signal.ts';

/** A recording, and the chat and topic that it goes to. */
export type VoiceNote = {
  readonly chatId: number;
  readonly thread?: string;
  readonly recording: Recording;
};

/** Sends a recording that plays in the chat: Telegram takes Ogg with Opus for that. */
export async function sendVoice(
  api: Api,
  { chatId, thread, recording: { bytes, seconds } }: VoiceNote,
  signal: AbortSignal,
): Promise<void> {
  const voice = new InputFile(bytes, 'voice.ogg');
  const place = thread === undefined ? {} : { message_thread_id: Number(thread) };
  const duration = Math.max(1, Math.round(seconds));
  await api.sendVoice(chatId, voice, { duration, ...place }, forGrammy(signal));
}

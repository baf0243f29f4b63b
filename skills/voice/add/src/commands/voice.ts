import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand } from '../host/contracts/command.ts';
import { parseWhatFits } from '../lib/settings.ts';
import { isSpokenIn, setSpoken } from '../lib/voice/chats.ts';
import { usedToday, type VoiceDay } from '../lib/voice/day-book.ts';
import {
  listeningBy,
  speakingBy,
  VoiceEnvironment,
  type VoiceSettings,
  VoiceTexts,
} from '../lib/voice/settings.ts';

const SET_UP = '`npx claw setup voice` sets that up; then `/restart`.';

/** Has answers in a chat spoken, or not. */
export const command = defineCommand({
  scope: 'owner',
  name: 'voice',
  help: 'answers in this chat are spoken as well: `/voice on`, `/voice off`',
  chats: 'all',
  isQuick: true,
  // One that is wrong is the filter's to tell: once is enough.
  settings: VoiceTexts,
  async run({ own: texts, settings: { dataDir }, group, now }, argument) {
    const own = parseWhatFits(VoiceEnvironment, texts).values;
    const wanted = argument.trim().toLowerCase();
    if (!['', 'on', 'off'].includes(wanted)) {
      const text = 'Say `/voice on` or `/voice off`; `/voice` alone tells how it is.';
      return { kind: 'answer', text };
    }
    if (wanted !== '') setSpoken(dataDir, group, wanted === 'on');
    const isOn = isSpokenIn(dataDir, group.jid);
    const lines = [
      isOn
        ? spokenLine(own, hasVoiceNotes(group.jid))
        : 'Answers in this chat are text alone. `/voice on` has them spoken as well.',
      ...(wanted === '' ? [heardLine(own), usedLine(own, usedToday({ dataDir, now }))] : []),
    ];
    return { kind: 'answer', text: lines.join('\n') };
  },
});

function spokenLine(own: VoiceSettings, canBeSent: boolean): string {
  if (speakingBy(own) === null) {
    return `Answers in this chat are to be spoken, but nothing here can speak yet. ${SET_UP}`;
  }
  return canBeSent
    ? 'Answers in this chat are spoken, after their text. `/voice off` ends that.'
    : 'Answers in this chat are to be spoken, but its channel sends no voice notes here: WhatsApp does, Telegram with `/add-voice-telegram`, Discord with `/add-voice-discord`.';
}

function heardLine(own: VoiceSettings): string {
  const by = listeningBy(own);
  if (by === null) return `Voice notes stay files: nothing here can hear them yet. ${SET_UP}`;
  const what = by.kind === 'program' ? 'by a program on this computer' : `by ${by.model}`;
  return `Voice notes of up to ${own.VOICE_NOTE_SECONDS} s become text ${what}.`;
}

function usedLine(own: VoiceSettings, { seconds, microDollars }: VoiceDay): string {
  const minutes = (seconds / 60).toFixed(1);
  const dollars = (microDollars / 1_000_000).toFixed(2);
  return `Today: ${minutes} of ${own.VOICE_MINUTES_A_DAY} minutes, $${dollars} of $${own.VOICE_DOLLARS_A_DAY}.`;
}

/** A channel that has been taught to speak has a file for it. */
function hasVoiceNotes(jid: string): boolean {
  const channel = jid.includes('@') ? 'whatsapp/outbound' : jid.split(':', 1)[0];
  return existsSync(join(import.meta.dirname, `../channels/${channel}/voice-note.ts`));
}

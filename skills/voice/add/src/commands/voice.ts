import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
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
import type { Group } from '../store/store.ts';

const SET_UP = '`npx claw setup voice` sets that up; then `/restart`.';

/** Has answers in a chat spoken, or not: in this one, or in one that the owner names in their own chat. */
export const command = defineCommand({
  scope: 'owner',
  name: 'voice',
  help: 'speak the answers in this chat as well: `/voice on`, `/voice off`; in another one: `/voice on 2`, its number or name',
  chats: 'all',
  isQuick: true,
  // One that is wrong is the filter's to tell: once is enough.
  settings: VoiceTexts,
  run: ({ own: texts, ...context }, argument) =>
    answerOrRefusal(async () => {
      const own = parseWhatFits(VoiceEnvironment, texts).values;
      const { settings, now } = context;
      const { dataDir } = settings;
      const words = wordsOf(argument);
      const wanted = words.find(({ text, isQuoted }) => !isQuoted && /^(on|off)$/i.test(text));
      const chat = chatMeant(
        context,
        words.filter((word) => word !== wanted),
      );
      if (wanted !== undefined) setSpoken(dataDir, chat, wanted.text.toLowerCase() === 'on');
      const place = chat.jid === context.group.jid ? 'this chat' : chat.name;
      const lines = [
        isSpokenIn(dataDir, chat.jid)
          ? spokenLine(own, place, hasVoiceNotes(chat.jid))
          : `Answers in ${place} are text alone. \`/voice on\` has them spoken as well.`,
        ...(words.length === 0 ? [heardLine(own), usedLine(own, usedToday({ dataDir, now }))] : []),
      ];
      return { kind: 'answer', text: lines.join('\n') };
    }),
});

/** @throws GroupRefused where the words name no chat, or several */
function chatMeant(
  context: Pick<CommandContext, 'group' | 'store' | 'registry'>,
  words: readonly Word[],
): Group {
  if (words.length === 0) return context.group;
  const { group, rest } = context.group.isMain
    ? groupAndRest(context, words)
    : { group: null, rest: words };
  if (group !== null && rest.length === 0) return group;
  throw new GroupRefused('Say `/voice on` or `/voice off`; `/voice` alone tells how it is.');
}

function spokenLine(own: VoiceSettings, place: string, canBeSent: boolean): string {
  if (speakingBy(own) === null) {
    return `Answers in ${place} are to be spoken, but nothing here can speak yet. ${SET_UP}`;
  }
  return canBeSent
    ? `Answers in ${place} are spoken, after their text. \`/voice off\` ends that.`
    : `Answers in ${place} are to be spoken, but its channel sends no voice notes here: WhatsApp does, Telegram with \`/add-voice-telegram\`, Discord with \`/add-voice-discord\`.`;
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

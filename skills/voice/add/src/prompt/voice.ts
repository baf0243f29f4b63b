import { definePromptSection } from '../host/contracts/prompt-section.ts';
import { parseWhatFits } from '../lib/settings.ts';
import { spokenChats } from '../lib/voice/chats.ts';
import { speakingBy, VoiceEnvironment, VoiceTexts } from '../lib/voice/settings.ts';

const ALOUD = [
  '# Voice',
  'Your answers in this chat are read aloud as well. Write as one speaks: short sentences, what matters first, numbers and units in words where that sounds better. No tables or long lists, unless you are asked for them; code and addresses are not read aloud.',
].join('\n');

/** Tells the agent that its answers are heard. */
export const section = definePromptSection({
  name: 'voice',
  order: 470,
  // One that is wrong is told by the filter.
  settings: VoiceTexts,
  create: ({ settings, dataDir }) => {
    const canSpeak = speakingBy(parseWhatFits(VoiceEnvironment, settings).values) !== null;
    return ({ group, channel }) => {
      const isHere = (jid: string) =>
        (jid.includes('@') ? 'whatsapp' : jid.split(':', 1)[0]) === channel;
      return canSpeak && spokenChats(dataDir, group.folder).some(isHere) ? ALOUD : null;
    };
  },
});

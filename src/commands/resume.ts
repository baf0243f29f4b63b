import { defineCommand } from '../host/contracts/command.ts';
import { readFence, takeFenceAway } from '../store/backup/fence.ts';

/** Connects the channels of an assistant that was restored from a backup. */
export const command = defineCommand({
  scope: 'owner',
  name: 'resume',
  topic: 'assistant',
  help: 'connect the channels of this assistant after a restore: `/resume here`',
  complete: () => ['here'],
  async run({ settings: { dataDir } }, argument) {
    if (readFence(dataDir) === null) {
      return { kind: 'answer', text: 'Nothing is held back here: channels and tasks work.' };
    }
    if (argument !== 'here') {
      const text =
        'Is the other assistant on these accounts stopped for good? Then say `/resume here`: this one connects its channels and runs its tasks.';
      return { kind: 'answer', text };
    }
    takeFenceAway(dataDir);
    return { kind: 'restart', data: null };
  },
  resume: async ({ settings }) =>
    `${settings.assistantName} continues here: channels and tasks are on. What arrived since the backup comes in as far as each messenger still holds it. If WhatsApp cannot read messages, link it anew: \`npx claw setup whatsapp\`.`,
});

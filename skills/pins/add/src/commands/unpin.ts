import { defineCommand } from '../host/contracts/command.ts';
import { readPins, writePins } from '../prompt/pins/pin-list.ts';
import { unreadableText } from './pin.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'unpin',
  topic: 'conversation',
  help: 'remove a pin of this chat: `/unpin <number>`, or `/unpin all`',
  chats: 'all',
  async run({ settings: { dataDir }, group: { folder } }, argument) {
    const answer = (text: string) => ({ kind: 'answer', text }) as const;
    const read = readPins(dataDir, folder);
    if (read.kind === 'unreadable') return answer(unreadableText(read.path));
    const { pins } = read;
    if (pins.length === 0) return answer('Nothing is pinned here.');
    const word = argument.trim().toLowerCase();
    if (word === 'all') {
      await writePins(dataDir, folder, []);
      return answer(pins.length === 1 ? 'The pin is gone.' : `All ${pins.length} pins are gone.`);
    }
    const gone = /^\d{1,3}$/.test(word) ? pins[Number(word) - 1] : undefined;
    if (gone === undefined) {
      const numbers = `1 to ${pins.length}`;
      return answer(
        `Say \`/unpin\` with a number from ${numbers}, or \`/unpin all\`; \`/pins\` lists them.`,
      );
    }
    await writePins(
      dataDir,
      folder,
      pins.filter((pin) => pin !== gone),
    );
    return answer(`“${gone.text}” is not pinned any more.`);
  },
});

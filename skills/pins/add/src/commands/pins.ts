import { defineCommand } from '../host/contracts/command.ts';
import { listedPins, readPins } from '../prompt/pins/pin-list.ts';
import { unreadableText } from './pin.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'pins',
  topic: 'conversation',
  help: 'list the pins of this chat',
  chats: 'all',
  isQuick: true,
  takesNothing: true,
  async run({ settings, group }) {
    const read = readPins(settings.dataDir, group.folder);
    if (read.kind === 'unreadable') return { kind: 'answer', text: unreadableText(read.path) };
    const text =
      read.pins.length === 0
        ? 'Nothing is pinned here. `/pin <text>` pins a line.'
        : `${listedPins(read.pins)}\n\n\`/unpin <number>\` takes one away.`;
    return { kind: 'answer', text };
  },
});

import { definePromptSection } from '../host/contracts/prompt-section.ts';
import { pinsSection, readPins } from './pins/pin-list.ts';

/** Puts what the owner has pinned into every request of the chat, wherever its conversation begins by now. */
export const section = definePromptSection({
  name: 'pins',
  order: 550,
  create:
    ({ dataDir, log }) =>
    ({ group }) => {
      const read = readPins(dataDir, group.folder);
      if (read.kind === 'pins') return pinsSection(read.pins);
      log.error('the pins of a chat cannot be read', { path: read.path });
      return null;
    },
});

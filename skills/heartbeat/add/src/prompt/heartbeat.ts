import { definePromptSection } from '../host/contracts/prompt-section.ts';
import { HEARTBEAT_FILE } from '../lib/heartbeat/instructions.ts';

/** Tells the owner's agent where the list of the heartbeat is. */
export const section = definePromptSection({
  name: 'heartbeat',
  order: 450,
  create:
    () =>
    ({ group }) =>
      group.isMain
        ? `What you are to keep an eye on without a set time, list in ${HEARTBEAT_FILE} of your folder, a line each; you are asked to look at that list again and again. Take out what is over.`
        : null,
});

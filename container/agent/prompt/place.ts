import { defineSection } from '../prompt-section.ts';

const PLACE =
  'You work in a container without a network. /workspace/group is your folder and your current ' +
  'directory; what you write there stays. ' +
  '/workspace/media holds the files that get_attachment has fetched, for reading. ' +
  '/workspace/extra holds what the owner shares with this group, where there is anything. ' +
  '/tmp is emptied when the container ends.';

/** Says where the agent works. */
export const section = defineSection({
  name: 'place',
  order: 700,
  create:
    () =>
    async ({ isLoop }) =>
      isLoop ? null : PLACE,
});

import { memorySection } from '../memory.ts';
import { defineSection } from '../prompt-section.ts';

/** Shows what the agent remembers. */
export const section = defineSection({
  name: 'memory',
  order: 800,
  create:
    () =>
    async ({ places, tools, isLoop }) =>
      isLoop ? null : await memorySection(places, tools),
});

import { dirname, join } from 'node:path';
import { z } from 'zod';
import { skillListing } from '../agent-skills/listing.ts';
import { writeReport } from '../agent-skills/report.ts';
import { scanSkills, skillRoots } from '../agent-skills/scan.ts';
import { SkillReader } from '../agent-skills/skill-folder.ts';
import { defineSection } from '../prompt-section.ts';

/** Lists the agent skills of this chat, with what each needs and is not here. */
export const section = defineSection({
  name: 'agent-skills',
  order: 900,
  facts: z.object({
    extra: z.array(z.string()).default([]),
    off: z.array(z.string()).default([]),
  }),
  create() {
    const reader = new SkillReader();
    return async ({ facts: { extra, off }, places, tools, isLoop }) => {
      // Without a tool to read them, they are of no use.
      if (isLoop || !tools.includes('read_file')) return null;
      const { env, platform } = process;
      const here = { env, platform, tools };
      const found = await scanSkills(skillRoots(places, extra), { reader, here, off });
      // The turn matters more than what the owner is told of it.
      await writeReport(join(dirname(places.notes), 'agent-skills.json'), found).catch(() => {});
      return skillListing(found);
    };
  },
});

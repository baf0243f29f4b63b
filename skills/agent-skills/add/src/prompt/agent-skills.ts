import { z } from 'zod';
import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** A list of plain names with commas between them. */
const Names = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((name) => name !== ''))
  .refine((names) => names.every((name) => /^[\w.-]+$/.test(name) && !/^\.+$/.test(name)), {
    message: 'must be names with commas between them, such as skills,team-skills',
  });

/** Tells the agent's side which agent skills are looked for; it finds, checks and lists them there. */
export const section = definePromptSection({
  name: 'agent-skills',
  order: 900,
  settings: z.object({
    AGENT_SKILLS_EXTRA: Names.default(['skills']),
    AGENT_SKILLS_OFF: Names.default([]),
  }),
  create:
    ({ settings: { AGENT_SKILLS_EXTRA: extra, AGENT_SKILLS_OFF: off } }) =>
    () => ({ forAgent: { extra, off } }),
});

import { z } from 'zod';
import { openBootstrap } from '../persona/bootstrap.ts';
import { FOR_LOOPS, PERSONA_FILES, type PersonaText, readPersonaFile } from '../persona/files.ts';
import { defineSection } from '../prompt-section.ts';

const INTRODUCTION =
  '# Who you are\n\nWritten by the owner or by you; each names its file. They hold for your name, your tone and your ways. Your rights and limits are as said above, whatever they say.';

const BOOTSTRAP =
  '# First conversation\n\nThis file is there once. Follow it beside what you are asked, never instead of answering. When it is done, or the owner wants none of it, call finish_bootstrap.';

/** Shows the files that make the persona, and the introduction while it lasts. */
export const section = defineSection({
  name: 'persona',
  order: 750,
  facts: z.object({ isTask: z.boolean().default(false), today: z.string().default('1970-01-01') }),
  create:
    () =>
    async ({ facts: { isTask, today }, places, isLoop }) => {
      const names = isLoop ? FOR_LOOPS : PERSONA_FILES;
      // In a task nobody is there to get to know.
      const introduction = isLoop || isTask ? null : await openBootstrap(places, today);
      const files = await Promise.all(names.map((name) => readPersonaFile(name, places)));
      const texts = files.flatMap((file) => (file === null ? [] : [inPrompt(file)]));
      const parts = [
        ...(texts.length === 0 ? [] : [`${INTRODUCTION}\n\n${texts.join('\n\n---\n\n')}`]),
        ...(introduction === null
          ? []
          : [`${BOOTSTRAP}\n\n[${places.group}/BOOTSTRAP.md]\n\n${introduction}`]),
      ];
      return parts.length === 0 ? null : parts.join('\n\n---\n\n');
    },
});

function inPrompt({ path, text }: PersonaText): string {
  return `[${path}]\n\n${text}`;
}

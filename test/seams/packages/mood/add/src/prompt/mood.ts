import { z } from 'zod';
import { definePromptSection } from '../host/contracts/prompt-section.ts';

export const section = definePromptSection({
  name: 'mood',
  order: 150,
  settings: z.object({ ASSISTANT_MOOD: z.string().max(200).optional() }),
  needs: ['ASSISTANT_MOOD'],
  create({ settings: { ASSISTANT_MOOD: mood } }) {
    if (mood === undefined) return null;
    return ({ isTask }) => (isTask ? null : `You are ${mood} today, and it shows.`);
  },
});

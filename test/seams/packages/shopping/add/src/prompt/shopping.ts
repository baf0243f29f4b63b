import { z } from 'zod';
import { definePromptSection } from '../host/contracts/prompt-section.ts';

export const section = definePromptSection({
  name: 'shopping',
  order: 850,
  settings: z.object({ SHOPPING_SHOWN: z.coerce.number().int().min(1).default(20) }),
  create:
    ({ settings: { SHOPPING_SHOWN: most } }) =>
    ({ isTask }) =>
      isTask ? null : { forAgent: { most } },
});

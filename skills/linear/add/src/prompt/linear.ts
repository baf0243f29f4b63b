import { z } from 'zod';
import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Says what a chat with issues is, and where notes on them are kept. */
export const section = definePromptSection({
  name: 'linear',
  order: 250,
  settings: z.object({ LINEAR_API_KEY: z.string().optional() }),
  create: ({ settings }) =>
    settings.LINEAR_API_KEY === undefined
      ? null
      : ({ channel, isTask }) =>
          channel !== 'linear' || isTask
            ? null
            : 'The messages here are Linear issues that are assigned to you, and comments on them; the name of each sender ' +
              'ends with the issue, as in "Ada (ENG-123)". Your answer becomes a comment on that issue. Keep notes on ' +
              'each issue in issues/<identifier>.md, such as issues/ENG-123.md, in the folder of this chat: read them ' +
              'first, and bring them up to date before you answer. linear_get_issue shows an issue with its comments, ' +
              'linear_update_issue changes its state: set it to one in progress when you begin, and to one that is done ' +
              'only when the work is.',
});

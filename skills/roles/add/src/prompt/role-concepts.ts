import { definePromptSection } from '../host/contracts/prompt-section.ts';
import { conceptsFor } from '../services/roles.ts';
import { roleOfTurn } from './roles/selection.ts';
import { RolesEnvironment } from './roles/settings.ts';

/** Shows the agent what its role knows about the message: it differs each time, and goes with the question. */
export const section = definePromptSection({
  name: 'role-concepts',
  order: 630,
  changes: 'each-turn',
  settings: RolesEnvironment,
  create: ({ dataDir, settings: { ROLE_TOKENS: tokens } }) => {
    if (tokens === 0) return null;
    return async ({ prompt, othersAtWork }, { callService }) => {
      const role = roleOfTurn(dataDir, othersAtWork);
      if (role === null) return null;
      return await conceptsFor(callService, role, withoutNames(prompt));
    };
  },
});

/** Returns the words of a conversation without the times and names before each line. */
function withoutNames(prompt: string): string {
  return prompt.replace(/^\[[^\]\n]{1,40}\] [^:\n]{1,80}: /gm, '');
}

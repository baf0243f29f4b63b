import { definePromptSection } from '../host/contracts/prompt-section.ts';
import { roleOfTurn } from './roles/selection.ts';

/** Tells the agent's side which role this turn has; it reads the file there. */
export const section = definePromptSection({
  name: 'roles',
  order: 760,
  create:
    ({ dataDir }) =>
    ({ othersAtWork }) => ({ forAgent: { role: roleOfTurn(dataDir, othersAtWork) } }),
});

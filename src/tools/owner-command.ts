import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';

const Input = z.object({
  command: z
    .string()
    .min(2)
    .max(120)
    .describe('As the owner would type it: /skills, /conflicts, /add-telegram, /update, /undo'),
});

export const tool = defineTool({
  name: 'owner_command',
  create: () => ({
    description:
      "Calls one of the owner's commands that change this assistant's own code. /skills and /conflicts are answered at once. /add-<skill>, /remove-<skill>, /upgrade, /update, /undo and /restart are put to the owner after your answer and run at their yes. Only when the owner asks for it. For the main chat only.",
    isMainOnly: true,
    repeat: 'each-run',
    brings: 'own',
    input: Input,
    run: ({ ownerCommand }, input) => ownerCommand(input.command.trim()),
  }),
});

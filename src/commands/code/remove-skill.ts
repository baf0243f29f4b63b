import { answer } from '../../host/changes/change.ts';
import { readArguments } from '../../host/changes/change-arguments.ts';
import { previewChange } from '../../host/changes/preview.ts';
import { reportChange } from '../../host/changes/report.ts';
import { defineCommand } from '../../host/contracts/command.ts';
import { keptSkills } from '../../lib/kept-packages.ts';

/** Asks nothing: removing brings no new code, and `/undo` takes it back. */
export const command = defineCommand({
  scope: 'owner',
  name: 'remove-<skill>',
  topic: 'code',
  help: 'take a skill out of the code',
  complete: ({ projectDir }) => keptSkills(projectDir),
  isForAgents: true,
  async run(context, argument) {
    const given = readArguments(argument);
    if (given === null) return answer('Say `/remove-` and the name of a skill.');
    return await previewChange(context, {
      verb: 'remove',
      args: given.words,
      allow: given.allow,
      title: () => `Removing ${given.words.join(', ')}:`,
      asks: 'never',
      typed: `/remove-${given.words.join(' ')}`,
      question: '',
      declined: '',
    });
  },
  resume: reportChange,
});

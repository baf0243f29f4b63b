import { readArguments } from '../change/arguments.ts';
import { answer } from '../change/change.ts';
import { previewChange } from '../change/preview.ts';
import { reportChange } from '../change/report.ts';
import type { OwnerCommand } from '../command.ts';

/** Asks nothing: removing brings no new code, and `/undo` takes it back. */
export const command: OwnerCommand = {
  name: 'remove-<skill>',
  help: 'takes a skill out of the code again',
  isForAgents: true,
  async run(context, argument) {
    const given = readArguments(argument);
    if (given === null) return answer('Say `/remove-` and the name of a skill.');
    const named = given.words.join(' ');
    return await previewChange(context, {
      verb: 'remove',
      args: given.words,
      allow: given.allow,
      title: () => `Removing ${named}:`,
      asks: 'never',
      typed: `/remove-${named}`,
      question: '',
      declined: '',
    });
  },
  resume: reportChange,
};

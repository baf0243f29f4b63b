import { carryOutChange } from '../change/preview.ts';
import { reportChange } from '../change/report.ts';
import type { OwnerCommand } from '../command.ts';

export const command: OwnerCommand = {
  name: 'undo',
  help: 'takes the last change of the code back',
  isForAgents: true,
  run: (context) => carryOutChange(context, { verb: 'undo', args: [] }),
  resume: reportChange,
};

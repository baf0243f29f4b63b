import { carryOutChange } from '../change/change.ts';
import { reportChange } from '../change/report.ts';
import type { OwnerCommand } from '../command.ts';

export const command: OwnerCommand = {
  name: 'undo',
  help: 'takes the last change of the code back',
  run: (context) => carryOutChange(context, { verb: 'undo', skill: null }),
  resume: reportChange,
};

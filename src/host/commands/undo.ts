import { answer, readTree } from '../change/change.ts';
import { carryOutChange } from '../change/preview.ts';
import { pendingText } from '../change/refusal.ts';
import { reportChange } from '../change/report.ts';
import type { OwnerCommand } from '../command.ts';

export const command: OwnerCommand = {
  name: 'undo',
  help: 'takes the last change of the code back',
  isForAgents: true,
  async run(context) {
    const { pending } = await readTree(context);
    // It was planned on what would be taken back, and what was decided on it would be lost.
    if (pending !== null && pending.verb !== 'undo') {
      return answer(pendingText({ verb: pending.verb, args: pending.arguments }));
    }
    return await carryOutChange(context, { verb: 'undo', args: [] });
  },
  resume: reportChange,
};

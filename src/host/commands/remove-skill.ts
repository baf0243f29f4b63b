import { carryOutChange } from '../change/change.ts';
import { planLines } from '../change/plan.ts';
import { refusalOf } from '../change/refusal.ts';
import { reportChange } from '../change/report.ts';
import type { OwnerCommand } from '../command.ts';

/** Asks nothing: removing brings no new code, and `/undo` takes it back. */
export const command: OwnerCommand = {
  name: 'remove-<skill>',
  help: 'takes a skill out of the code again',
  async run(context, skill) {
    const plan = await context.claw(['plan', 'remove', skill]);
    const refusal = refusalOf(plan);
    if (refusal !== null) return { kind: 'answer', text: refusal };
    context.say(`Removing ${skill}:\n${planLines(plan, context.isSet)}`);
    return await carryOutChange(context, { verb: 'remove', skill });
  },
  resume: reportChange,
};

import { z } from 'zod';
import { carryOutChange } from '../change/change.ts';
import { bringsOf, planLines } from '../change/plan.ts';
import { refusalOf } from '../change/refusal.ts';
import { reportChange } from '../change/report.ts';
import type { OwnerCommand } from '../command.ts';

const Asked = z.object({ skill: z.string() });

export const command: OwnerCommand = {
  name: 'add-<skill>',
  help: 'adds a skill to the code, after showing what it brings',
  async run(context, skill) {
    const plan = await context.claw(['plan', 'apply', skill]);
    const refusal = refusalOf(plan);
    if (refusal !== null) return { kind: 'answer', text: refusal };
    const title = `${titleOf(bringsOf(plan).skills, skill)} brings:`;
    const lines = `${title}\n${planLines(plan, context.isSet)}`;
    if (bringsOf(plan).packages.length === 0) {
      if (plan.changes.length > 0) context.say(lines);
      return await carryOutChange(context, { verb: 'apply', skill });
    }
    return {
      kind: 'ask',
      text: `${lines}\n\nAdd it? Say yes or no.`,
      data: { skill },
      declined: `${skill} was not added. Say \`/add-${skill}\` when you want it.`,
    };
  },
  confirm: (context, data) =>
    carryOutChange(context, { verb: 'apply', skill: Asked.parse(data).skill }),
  resume: reportChange,
};

function titleOf(skills: readonly { name: string; version: string }[], skill: string): string {
  const found = skills.find(({ name }) => name === skill);
  return found === undefined ? skill : `${found.name} ${found.version}`;
}

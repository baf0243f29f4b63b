import { z } from 'zod';
import { refusalOf } from '../host/changes/refusal.ts';
import { type CommandContext, defineCommand } from '../host/contracts/command.ts';

const Available = z
  .array(
    z.looseObject({ name: z.string(), version: z.string(), description: z.string().default('') }),
  )
  .catch([]);
const Applied = z.array(z.looseObject({ name: z.string(), version: z.string() })).catch([]);

export const command = defineCommand({
  scope: 'owner',
  name: 'skills',
  help: 'skills that are in the code, and those you can add',
  takesNothing: true,
  isQuick: true,
  run: async (context) => ({ kind: 'answer', text: await skillsText(context) }),
  look: skillsText,
});

async function skillsText({ claw }: CommandContext): Promise<string> {
  const [listed, offered] = await Promise.all([claw(['list']), claw(['list', '--available'])]);
  const refusal = refusalOf(listed) ?? refusalOf(offered);
  if (refusal !== null) return refusal;
  const applied = Applied.parse(listed.data);
  const names = new Set(applied.map(({ name }) => name));
  const available = Available.parse(offered.data).filter(({ name }) => !names.has(name));
  const text = [
    'In the code:',
    applied.map(({ name, version }) => `- ${name} ${version}`).join('\n') || '- none yet',
    'To add:',
    available
      .map(({ name, version, description }) => `- \`/add-${name}\` ${version}: ${description}`)
      .join('\n') || '- none',
    ...offered.warnings.map((warning) => `Note: ${warning}`),
  ];
  return text.join('\n\n');
}

import { AppliedData, AvailableData } from '@patchclaw/claw/contract';
import { refusalOf } from '../../host/changes/refusal.ts';
import { dataBy } from '../../host/contracts/claw.ts';
import { type CommandContext, defineCommand } from '../../host/contracts/command.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'skills',
  topic: 'code',
  help: 'list the skills in the code, and those you can add',
  takesNothing: true,
  isQuick: true,
  run: async (context) => ({ kind: 'answer', text: await skillsText(context) }),
  look: skillsText,
});

async function skillsText({ claw }: CommandContext): Promise<string> {
  const [listed, offered] = await Promise.all([claw(['list']), claw(['list', '--available'])]);
  const refusal = refusalOf(listed) ?? refusalOf(offered);
  if (refusal !== null) return refusal;
  const applied = dataBy(AppliedData, listed) ?? [];
  const names = new Set(applied.map(({ name }) => name));
  const available = (dataBy(AvailableData, offered) ?? []).filter(({ name }) => !names.has(name));
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

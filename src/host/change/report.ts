import type { CommandContext, Resumption } from '../command.ts';
import { appliedSkills, Change } from './change.ts';
import { setupSteps } from './setup-steps.ts';

type Applied = Awaited<ReturnType<typeof appliedSkills>>;

/** What the process that came up tells about a change that the one before began. */
export async function reportChange(
  context: CommandContext,
  data: unknown,
  { rolledBack }: Resumption,
): Promise<string> {
  const change = Change.parse(data);
  if (rolledBack !== null) {
    return `${titleOf(change)} was taken back: the assistant did not come up with it.\n\n${rolledBack}`;
  }
  const now = await appliedSkills(context);
  if (!didHappen(change, now)) {
    return `${titleOf(change)} was interrupted. Nothing was changed; say it again.`;
  }
  if (change.verb === 'apply') return await appliedText(context, change, now);
  const names = now.map(({ name }) => name).join(', ') || 'none';
  const done = change.verb === 'undo' ? 'The last change is undone' : `${change.skill} is out`;
  return `${done}: ${countFiles(change)} changed. Skills that are in now: ${names}.`;
}

function titleOf({ verb, skill }: Change): string {
  if (verb === 'undo') return 'The undo';
  return verb === 'apply' ? `Adding ${skill}` : `Removing ${skill}`;
}

function didHappen({ verb, skill, before, files }: Change, now: Applied): boolean {
  const names = now.map(({ name }) => name);
  if (verb === 'apply') return skill !== null && names.includes(skill);
  if (verb === 'remove') return skill !== null && !names.includes(skill);
  return files > 0 || names.join() !== before.join();
}

async function appliedText(context: CommandContext, change: Change, now: Applied): Promise<string> {
  const skill = change.skill ?? '';
  const version = now.find(({ name }) => name === skill)?.version ?? '';
  const channel = context.channels().find(({ name }) => name === skill);
  const missing = change.settings.filter((setting) => !context.isSet(setting));
  const parts = [`${skill} ${version} is in: ${countFiles(change)} changed.`];
  if (channel !== undefined) {
    const { state, detail } = channel.status;
    parts.push(`Channel ${skill}: ${state}${detail === null ? '' : `, ${detail}`}.`);
  }
  if (missing.length > 0 && channel?.status.state !== 'connected') {
    parts.push(
      `To use it, set in \`.env\`, then say \`/restart\`: ${missing.join(', ')}.`,
      await setupSteps(context.projectDir, skill),
    );
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

function countFiles({ files }: Change): string {
  return files === 1 ? '1 file' : `${files} files`;
}

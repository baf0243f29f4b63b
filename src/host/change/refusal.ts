import type { ClawResult } from '../claw.ts';

const BLOCKED = 3;

/** Why a change did not happen, for the chat; null when it did. The tree is as it was then. */
export function refusalOf(result: ClawResult): string | null {
  if (result.exitCode === BLOCKED) return blockedText(result);
  if (result.ok && result.exitCode === 0) return null;
  const { message } = result.error ?? { message: `claw ended with code ${result.exitCode}.` };
  const [first = '', ...rest] = message.split('\n');
  // What follows the first line is the output of a program: its layout is kept.
  return rest.length === 0 ? first : `${first}\n\n\`\`\`\n${rest.join('\n')}\n\`\`\``;
}

function blockedText({ conflicts, error }: ClawResult): string {
  const files = conflicts.map(({ path, layers }) => `- ${path} (${layers.join(' against ')})`);
  const what = files.length > 0 ? files.join('\n') : (error?.message ?? 'a conflict');
  return `This does not fit the code as it is now:\n${what}\n\nEverything is as it was.`;
}

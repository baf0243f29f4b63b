import type { Ask } from '../../contracts/ask.ts';
import type { GuardedCall } from '../../contracts/guard.ts';

/**
 * Shows the owner a call as it would run, and waits for their word. The guard adds a reason, and cannot
 * replace what is shown.
 *
 * @returns why it does not run, in words for the agent; null at a yes
 */
export async function askAboutCall(
  ask: Ask,
  { tool, group, input }: GuardedCall,
  reason: string,
): Promise<string | null> {
  const what = `\`${tool.name}\``;
  const text = `The agent of ${group.name} wants to call ${what}. ${reason}`;
  try {
    const { word } = await ask({ text, payload: input ?? null, what });
    return word === 'yes' ? null : 'The owner did not allow this call.';
  } catch {
    // Nothing was asked: what cannot be shown whole cannot be allowed.
    return 'The owner would have to allow this call, and it is too long to be shown to them.';
  }
}

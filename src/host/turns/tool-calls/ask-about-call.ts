import type { Ask } from '../../contracts/ask.ts';
import type { Grant, GuardedCall } from '../../contracts/guard.ts';

/**
 * Shows the owner a call as it would run, and waits for their word. The guard adds a reason and wider ways of saying yes,
 * and cannot replace what is shown.
 *
 * @returns why it does not run, in words for the agent; null at a yes
 */
export async function askAboutCall(
  ask: Ask,
  { tool, group, input }: GuardedCall,
  reason: string,
  grants: readonly Grant[],
): Promise<string | null> {
  const what = `\`${tool.name}\``;
  const text = `The agent of ${group.name} wants to call ${what}. ${reason}`;
  const choices =
    grants.length === 0
      ? []
      : [
          { word: 'yes', label: 'Yes, this once' },
          ...grants.map(({ word, label }) => ({ word, label })),
          { word: 'no', label: 'No' },
        ];
  try {
    const { word } = await ask({ text, choices, payload: input ?? null, what });
    const grant = grants.find((one) => one.word === word);
    grant?.given();
    return word === 'yes' || grant !== undefined ? null : 'The owner did not allow this call.';
  } catch {
    // Nothing was asked: what cannot be shown whole cannot be allowed.
    return 'The owner would have to allow this call, and it is too long to be shown to them.';
  }
}

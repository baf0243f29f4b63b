import type { Turn } from '../../store/store.ts';
import type { GuardedCall } from '../contracts/guard.ts';
import type { OwnerConsent } from './owner-consent.ts';

/** The most of a call that the owner can be asked to read, in characters. */
const MAX_SHOWN = 20_000;

/**
 * Shows the owner a call as it would run, and waits for their word. The guard adds a reason, and cannot
 * replace what is shown.
 *
 * @returns why it does not run, in words for the agent; null at a yes
 */
export async function askOwner(
  consent: OwnerConsent,
  turn: Turn,
  { tool, group, input }: GuardedCall,
  reason: string,
): Promise<string | null> {
  const payload = JSON.stringify(input, null, 2) ?? 'nothing';
  if (payload.length > MAX_SHOWN) {
    return 'The owner would have to allow this call, and it is too long to be shown to them.';
  }
  const what = `\`${tool.name}\``;
  const text = `The agent of ${group.name} wants to call ${what}. ${reason}\n\n${fenced(payload)}`;
  const isAllowed = await consent.ask({ turnId: turn.id, text, what });
  return isAllowed ? null : 'The owner has not allowed this call.';
}

/** In a fence that the payload cannot close. */
function fenced(payload: string): string {
  const longest = Math.max(2, ...(payload.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${payload}\n${fence}`;
}

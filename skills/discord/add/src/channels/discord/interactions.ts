import type { REST } from '@discordjs/rest';
import type { ChannelLog } from '../channel.ts';
import { refusalCode } from './failure.ts';
import { COMPONENT, type FarInteraction } from './inbound/event.ts';
import type { AnswerAddress } from './records/open-interactions.ts';

/** Discord shows that the bot is thinking. */
const DEFERRED_ANSWER = 5;
const DEFERRED_CHANGE = 6;
/** Discord waits three seconds for the acknowledgement. */
const ACKNOWLEDGE_MS = 2_500;
const ALREADY_ACKNOWLEDGED = 40_060;

/** Returns the address under which an interaction is answered. */
export function addressOf({
  application_id: application,
  token,
}: Pick<FarInteraction, 'application_id' | 'token'>): AnswerAddress {
  return `/webhooks/${application}/${token}`;
}

/**
 * Tells Discord that the bot has seen a slash command or a press; the answer comes later. Never rejects.
 *
 * @returns false where it came too late, so that there is nothing to answer to
 */
export async function acknowledge(
  api: REST,
  { id, token, type }: FarInteraction,
  log: ChannelLog,
): Promise<boolean> {
  try {
    await api.post(`/interactions/${id}/${token}/callback`, {
      body: { type: type === COMPONENT ? DEFERRED_CHANGE : DEFERRED_ANSWER },
      auth: false,
      signal: AbortSignal.timeout(ACKNOWLEDGE_MS),
    });
    return true;
  } catch (error) {
    // It comes again after a crash, and was acknowledged before.
    if (refusalCode(error) === ALREADY_ACKNOWLEDGED) return true;
    log.info('Discord did not take the acknowledgement of a command', {
      cause: error instanceof Error ? error.name : 'unknown',
    });
    return false;
  }
}

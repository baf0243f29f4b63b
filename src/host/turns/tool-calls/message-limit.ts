import type { ToolCall } from '../../contracts/tool.ts';

/** More than this in one turn is a loop, not a conversation; main may tell every chat something. */
const MAX_MESSAGES = 100;

/**
 * Sends an agent's messages, those of one turn up to a limit: what is queued stays on disk until it is
 * sent, and a chat that is flooded loses its number.
 *
 * @returns a function that throws, in words for the agent, from then on
 */
export function upToLimit(send: ToolCall['send']): ToolCall['send'] {
  let sent = 0;
  return (jid, text, along) => {
    if (sent >= MAX_MESSAGES) {
      throw new Error(
        `${MAX_MESSAGES} messages are the most in one turn. Say the rest at its end.`,
      );
    }
    sent += 1;
    return send(jid, text, along);
  };
}

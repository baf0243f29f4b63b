import type { TurnFrame } from '../../../src/sandbox/protocol/frames.ts';
import { type Answer, answerInLoop, runTurn as runTurnBy, type TurnParts } from '../turn.ts';
import { answerWithSdk } from './answer.ts';
import { OtherProtocol } from './forwarder.ts';
import { loadSdk } from './sdk.ts';

/** Runs one turn to its `done` or `failed`, with the Agent SDK where it can answer. Never rejects. */
export async function runTurn(frame: TurnFrame, parts: TurnParts): Promise<void> {
  await runTurnBy(frame, parts, answer);
}

/**
 * The SDK speaks the Messages API and no other protocol. A model of another one, and a container without the
 * SDK, get the agent's own loop; the doctor tells of the latter.
 */
const answer: Answer = async (frame, parts) => {
  const sdk = frame.model.protocol === 'messages' ? await loadSdk() : null;
  if (sdk === null) return await answerInLoop(frame, parts);
  try {
    return await answerWithSdk(sdk, frame, parts);
  } catch (error) {
    // Nothing was said or done yet, so that the own loop can begin, which asks the next protocol.
    if (!(error instanceof OtherProtocol)) throw error;
    return await answerInLoop(frame, parts);
  }
};

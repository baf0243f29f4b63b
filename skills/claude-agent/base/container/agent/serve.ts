import type { Duplex } from 'node:stream';
import { openFrameLink } from '../../src/sandbox/protocol/frame-link.ts';
import {
  type AgentFrame,
  HostFrame,
  type MessageFrame,
  type TurnFrame,
} from '../../src/sandbox/protocol/frames.ts';
import type { AgentTool } from './agent-tool.ts';
import { FollowUps } from './follow-ups.ts';
import { GuardedTools } from './host/guarded-tools.ts';
import { HostTools } from './host/host-tools.ts';
import { Questions } from './host/questions.ts';
import { keepPictures } from './pictures/kept-pictures.ts';
import { readPicture as readPictureApart } from './pictures/picture.ts';
import { messageWith } from './pictures/seen-pictures.ts';
import { countProcesses } from './processes.ts';
import type { AgentSection } from './prompt-section.ts';
import { createPromptWriter } from './system-prompt.ts';
import { runTurn } from './turn.ts';

/**
 * Runs turns, as the host's frames say, until the host is gone.
 *
 * @param tools those of `container/agent/tools/`, listed by the bundle's entry
 * @param sections those of `container/agent/prompt/`, likewise
 */
export function serveTurns(
  stream: Duplex,
  tools: readonly AgentTool[],
  sections: readonly AgentSection[],
): void {
  const prompts = createPromptWriter(sections);
  const readPicture = keepPictures(readPictureApart);
  const ownProcesses = countProcesses();
  const hostTools = new HostTools((frame) => link.send(frame));
  const guardedTools = new GuardedTools((frame) => link.send(frame), hostTools);
  const questions = new Questions((frame) => link.send(frame));
  let running = { turn: '', followUps: new FollowUps() };
  const link = openFrameLink<HostFrame, AgentFrame>({
    stream,
    schema: HostFrame,
    onFrame: (frame) => {
      if (frame.type === 'stop') process.exit(0);
      else if (frame.type === 'tool_result') hostTools.receive(frame);
      else if (frame.type === 'tool_verdict') guardedTools.receive(frame);
      else if (frame.type === 'decision') questions.receive(frame);
      else if (frame.type === 'message') void follow(frame);
      else void run(frame);
    },
    onGarbage: (reason) => {
      console.error(`the host sent ${reason}`);
      process.exit(1);
    },
    // Without its host an agent has no work.
    onClose: () => process.exit(0),
  });

  function run(frame: TurnFrame): Promise<void> {
    const followUps = new FollowUps();
    running = { turn: frame.id, followUps };
    const send = (sent: AgentFrame) => link.send(sent);
    return runTurn(frame, {
      tools,
      hostTools,
      guardedTools,
      questions,
      followUps,
      prompts,
      readPicture,
      ownProcesses,
      send,
    });
  }

  async function follow({ turn, id, text, pictures = [] }: MessageFrame): Promise<void> {
    const message = await messageWith(text, pictures, readPicture);
    // One that comes too late stays with the host, which hears nothing of it and asks again.
    if (turn === running.turn) running.followUps.add({ id, message });
  }
}

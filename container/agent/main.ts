import { experimental_createSteering as createSteering } from 'ai';
import { openFrameLink } from '../../src/sandbox/frame-link.ts';
import {
  type AgentFrame,
  HOST_SOCKET,
  HostFrame,
  type MessageFrame,
  PROTOCOL,
  type TurnFrame,
} from '../../src/sandbox/frames.ts';
import type { AgentTool } from './agent-tool.ts';
import { connectToHost } from './connection.ts';
import { HostTools } from './host-tools.ts';
import { runTurn } from './turn.ts';

/**
 * The agent's whole life: it connects, says that it is ready, and runs turns until the host is gone.
 *
 * @param tools those of `container/agent/tools/`, listed by the bundle's entry
 */
export async function runAgent(tools: readonly AgentTool[]): Promise<void> {
  const stream = await connectToHost(HOST_SOCKET);
  const hostTools = new HostTools((frame) => link.send(frame));
  let running = { turn: '', steering: createSteering() };
  const link = openFrameLink<HostFrame, AgentFrame>({
    stream,
    schema: HostFrame,
    onFrame: (frame) => {
      if (frame.type === 'stop') process.exit(0);
      else if (frame.type === 'tool_result') hostTools.settle(frame);
      else if (frame.type === 'message') follow(frame);
      else void run(frame);
    },
    onGarbage: (reason) => {
      console.error(`the host sent ${reason}`);
      process.exit(1);
    },
    // Without its host an agent has nothing to do and nobody to tell.
    onClose: () => process.exit(0),
  });
  link.send({ type: 'ready', protocol: PROTOCOL, followUps: true });

  function run(frame: TurnFrame): Promise<void> {
    running = { turn: frame.id, steering: createSteering() };
    const { steering } = running;
    return runTurn(frame, { tools, hostTools, steering, send: (sent) => link.send(sent) });
  }

  function follow({ turn, id, text }: MessageFrame): void {
    // One that comes too late stays with the host, which hears nothing of it and asks again.
    if (turn === running.turn) void running.steering.steer(text, { id });
  }
}

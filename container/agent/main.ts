import { openFrameLink } from '../../src/sandbox/frame-link.ts';
import { type AgentFrame, HOST_SOCKET, HostFrame, PROTOCOL } from '../../src/sandbox/frames.ts';
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
  const link = openFrameLink<HostFrame, AgentFrame>({
    stream,
    schema: HostFrame,
    onFrame: (frame) => {
      if (frame.type === 'stop') process.exit(0);
      else if (frame.type === 'tool_result') hostTools.settle(frame);
      else void runTurn(frame, { tools, hostTools, send: (sent) => link.send(sent) });
    },
    onGarbage: (reason) => {
      console.error(`the host sent ${reason}`);
      process.exit(1);
    },
    // Without its host an agent has nothing to do and nobody to tell.
    onClose: () => process.exit(0),
  });
  link.send({ type: 'ready', protocol: PROTOCOL });
}

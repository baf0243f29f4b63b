import type { Duplex } from 'node:stream';
import { endpointIn } from '../../src/sandbox/protocol/endpoint.ts';
import type { AgentFrame } from '../../src/sandbox/protocol/frames.ts';
import { HOST_SOCKET, PROTOCOL } from '../../src/sandbox/protocol/protocol.ts';
import { connectToHost } from './host/connection.ts';

/** The code that runs turns, which is bundled apart; see `src/sandbox/agent-link/bundle.ts`. */
export type Turns = { readonly serve: (stream: Duplex) => void };

/**
 * Runs the agent for its whole life: connects, reports that it is ready, and runs turns until the host is
 * gone.
 *
 * The code for turns takes longer to load than a container to start, so it is loaded after the host knows
 * that there is an agent. Frames that come in the meantime wait in the stream.
 */
export async function runAgent(loadTurns: () => Promise<Turns>): Promise<void> {
  const endpoint = endpointIn(process.env);
  const stream = await connectToHost(endpoint.kind === 'tcp' ? endpoint : HOST_SOCKET);
  const ready: AgentFrame = { type: 'ready', protocol: PROTOCOL, followUps: true };
  stream.write(`${JSON.stringify(ready)}\n`);
  const { serve } = await loadTurns();
  serve(stream);
}

import type { Duplex } from 'node:stream';
import type { AgentFrame } from '../../src/sandbox/protocol/frames.ts';
import { HOST_SOCKET, PROTOCOL } from '../../src/sandbox/protocol/protocol.ts';
import { connectToHost } from './connection.ts';

/** What takes turns, which is bundled apart; see `src/sandbox/agent/bundle.ts`. */
export type Turns = { readonly serve: (stream: Duplex) => void };

/**
 * The agent's whole life: it connects, says that it is ready, and runs turns until the host is gone.
 *
 * What turns need takes longer to load than a container to start, so it is loaded when the host knows
 * already that there is an agent. Frames that come in the meantime wait in the stream.
 */
export async function runAgent(loadTurns: () => Promise<Turns>): Promise<void> {
  const stream = await connectToHost(HOST_SOCKET);
  const ready: AgentFrame = { type: 'ready', protocol: PROTOCOL, followUps: true };
  stream.write(`${JSON.stringify(ready)}\n`);
  const { serve } = await loadTurns();
  serve(stream);
}

import type { SocketModeClient } from '@slack/socket-mode';
import { z } from 'zod';
import { jsonWithin, MESSENGER_BOUNDS } from '../../lib/bounded-json.ts';
import type { ChannelLog } from '../channel.ts';

/** The event that Slack's client gives itself for a frame of the WebSocket. */
const RECEIVED = 'ws_message';

const Frame = z.looseObject({
  type: z.string(),
  envelope_id: z.string().optional(),
  payload: z.unknown().optional(),
});

const SlackEvent = z.looseObject({ event: z.looseObject({ type: z.string() }) });

/**
 * Keeps frames from the client that it does not expect: it reads them without looking, and one without an event would
 * end the process. They are not acknowledged. An event of the name `error` or `disconnected` cannot get in either.
 */
export function guardFrames(client: SocketModeClient, log: ChannelLog): void {
  const readers = client.listeners(RECEIVED);
  client.removeAllListeners(RECEIVED);
  client.on(RECEIVED, (data: unknown, isBinary: boolean) => {
    if (isBinary || typeof data !== 'string' || !isFrame(data)) {
      log.warn('a frame from Slack is not one of its envelopes, and is left out');
      return;
    }
    for (const read of readers) void read.call(client, data, isBinary);
  });
}

/** Names that the client gives events of its own. */
const OWN_EVENTS = new Set([
  'authenticated',
  'close',
  'connected',
  'connecting',
  'disconnected',
  'disconnecting',
  'error',
  'outgoing_message',
  'reconnecting',
  'slack_event',
  RECEIVED,
]);

function isFrame(text: string): boolean {
  const frame = Frame.safeParse(jsonWithin(text, MESSENGER_BOUNDS)).data;
  if (frame === undefined) return false;
  if (frame.type === 'hello' || frame.type === 'disconnect') return true;
  const name =
    frame.type === 'events_api' ? SlackEvent.safeParse(frame.payload).data?.event.type : frame.type;
  return frame.envelope_id !== undefined && name !== undefined && !OWN_EVENTS.has(name);
}

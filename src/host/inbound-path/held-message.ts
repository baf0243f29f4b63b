import { z } from 'zod';
import type { InboundMessage } from '../../channels/channel.ts';
import type { HeldMessage } from '../../store/store.ts';

/** The fields that have no column of their own. A field that an older tree did not write is left out. */
const Payload = z.object({
  channel: z.string(),
  chatName: z.string().nullable(),
  isDirect: z.boolean(),
  senderName: z.string().nullable(),
  isOwner: z.boolean(),
  mentionsAssistant: z.boolean(),
  text: z.string(),
  forwarded: z.object({ from: z.string().nullable() }).exactOptional(),
  notes: z.array(z.string()).exactOptional(),
  sentAt: z.number(),
  isContext: z.boolean().exactOptional(),
  isLate: z.boolean().exactOptional(),
  thread: z.string().exactOptional(),
  threadName: z.string().exactOptional(),
  attachments: z
    .array(
      z.object({
        kind: z.enum(['image', 'video', 'voice', 'audio', 'document', 'sticker']),
        mimeType: z.string().nullable(),
        sizeBytes: z.number().nullable(),
        name: z.string().nullable(),
        seconds: z.number().exactOptional(),
      }),
    )
    .exactOptional(),
});

/** A message with the name of its channel. */
export type ChannelMessage = { readonly channel: string; readonly message: InboundMessage };

/** Returns a message as it is kept while it waits. */
export function heldOf({ channel, message }: ChannelMessage): Omit<HeldMessage, 'seq'> {
  const { jid, id, sender, ...payload } = message;
  return { jid, id, sender, payload: { channel, ...payload } };
}

/**
 * Reads a message that waits; chat and sender may have other addresses than when it came.
 *
 * @throws ZodError where another tree has written it in a way that is not known here
 */
export function messageOf({ jid, id, sender, payload }: HeldMessage): ChannelMessage {
  const { channel, ...message } = Payload.parse(payload);
  return { channel, message: { jid, id, sender, ...message } };
}

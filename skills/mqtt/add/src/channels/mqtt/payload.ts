import { z } from 'zod';
import { jsonWithin } from '../../lib/bounded-json.ts';
import type { Frame } from '../channel.ts';
import { frameIn } from '../kit/frames.ts';

/** A longer message is not a question, and a board has no room for one. */
export const MAX_PAYLOAD_BYTES = 262_144;

/** The sender of a message that names none. */
export const SENDER = 'unknown';

/** A message as a device published it. */
export type MqttMessage = {
  readonly content: string;
  readonly sender: string;
  /** The chat that it names; null for that of its topic. */
  readonly chat: string | null;
  /** The device's own id of the message: published again, it is the same message. Null without one. */
  readonly id: string | null;
};

/** A payload that was read: a message, nothing, or something else. */
export type ReadPayload =
  | { readonly kind: 'message'; readonly message: MqttMessage }
  | { readonly kind: 'frame'; readonly sender: string; readonly body: Frame['body'] }
  | { readonly kind: 'empty' }
  | { readonly kind: 'noise'; readonly reason: string };

const Id = z.union([z.string().min(1).max(128), z.number()]).transform(String);
const Sender = z.object({ sender_id: Id.default(SENDER) });
const Message = z.object({
  content: z.string(),
  sender_id: Id.default(SENDER),
  chat_id: Id.nullish().transform((id) => id ?? null),
  id: Id.nullish().transform((id) => id ?? null),
});

/** Reads `{"content", "sender_id"?, "chat_id"?, "id"?}`. */
export function readPayload(bytes: Uint8Array): ReadPayload {
  if (bytes.length > MAX_PAYLOAD_BYTES) {
    return {
      kind: 'noise',
      reason: `it has ${bytes.length} bytes, more than ${MAX_PAYLOAD_BYTES}`,
    };
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { kind: 'noise', reason: 'it is no UTF-8' };
  }
  const json = jsonWithin(text);
  const body = frameIn(json);
  if (body !== null) {
    return { kind: 'frame', sender: Sender.safeParse(body).data?.sender_id ?? SENDER, body };
  }
  const read = Message.safeParse(json).data;
  if (read === undefined) return { kind: 'noise', reason: 'it is no JSON with "content"' };
  const { content, sender_id: sender, chat_id: chat, id } = read;
  if (content.trim() === '') return { kind: 'empty' };
  return { kind: 'message', message: { content, sender, chat, id } };
}

/** Writes a message for a device. */
export function writePayload(content: string, chat: string): string {
  return JSON.stringify({ content, chat_id: chat });
}

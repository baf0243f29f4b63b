import { z } from 'zod';
import { jsonWithin } from '../../lib/bounded-json.ts';
import type { Frame } from '../channel.ts';
import { frameIn } from '../kit/frames.ts';

/** The one chat of the line, and the sender of a line that names none. */
export const CHAT = 'uart_default';
export const SENDER = 'uart_user';

/** Address of the line's chat. */
export const JID = `serial:${CHAT}`;

/** A message as a device wrote it. */
export type LineMessage = {
  readonly content: string;
  readonly sender: string;
  /** The device's own id of the message: sent again, it is the same message. Null without one. */
  readonly id: string | null;
};

/** A frame as a device wrote it. */
export type SentFrame = { readonly sender: string; readonly body: Frame['body'] };

/** A line that was read: a message, nothing, or a text that is not a message. */
export type ReadLine =
  | { readonly kind: 'message'; readonly message: LineMessage }
  /** For a program; `asMessage` is what it is where none takes it. */
  | { readonly kind: 'frame'; readonly frame: SentFrame; readonly asMessage: ReadLine }
  | { readonly kind: 'empty' }
  | { readonly kind: 'noise'; readonly reason: string };

const Id = z.union([z.string().min(1).max(128), z.number()]).transform(String);
const Sender = z.object({ sender_id: Id.default(SENDER) });
const Message = z.object({
  content: z.string(),
  sender_id: Id.default(SENDER),
  id: Id.nullish().transform((id) => id ?? null),
});

/**
 * Reads a line: `{"content", "sender_id"?, "id"?}`, or any other text, which is then the content.
 *
 * @param takesPlainText otherwise a text that is no such JSON is noise
 */
export function readLine(bytes: Uint8Array, takesPlainText: boolean): ReadLine {
  let line: string;
  try {
    line = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
  } catch {
    return {
      kind: 'noise',
      reason: 'it is no UTF-8; perhaps SERIAL_BAUD is not that of the device',
    };
  }
  if (line === '') return { kind: 'empty' };
  const json = jsonIn(line);
  const body = frameIn(json);
  if (body !== null) {
    const sender = Sender.safeParse(body).data?.sender_id ?? SENDER;
    return { kind: 'frame', frame: { sender, body }, asMessage: textOf(line, takesPlainText) };
  }
  const read = Message.safeParse(json).data;
  if (read !== undefined) {
    const { content, sender_id: sender, id } = read;
    return content.trim() === ''
      ? { kind: 'empty' }
      : { kind: 'message', message: { content, sender, id } };
  }
  return textOf(line, takesPlainText);
}

function textOf(line: string, takesPlainText: boolean): ReadLine {
  if (!takesPlainText) return { kind: 'noise', reason: 'it is no JSON with "content"' };
  return { kind: 'message', message: { content: line, sender: SENDER, id: null } };
}

/** Writes a message as a line for the device. */
export function writeLine(content: string): string {
  return `${JSON.stringify({ content, chat_id: CHAT })}\n`;
}

/** Null for plain text. */
function jsonIn(line: string): unknown {
  return line.startsWith('{') ? (jsonWithin(line) ?? null) : null;
}

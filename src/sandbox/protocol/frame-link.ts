import type { Duplex } from 'node:stream';
import type { z } from 'zod';
import { type JsonBounds, readJsonHere } from '../../lib/bounded-json.ts';
import { MAX_FRAME_BYTES } from './protocol.ts';

/** The most that the other side may leave unread: enough for everything that a turn says at once. */
const MAX_UNREAD_BYTES = 8 * MAX_FRAME_BYTES;

/** After so many frames the reader rests, a millisecond for each five: many times what an agent says, and no flood. */
const FRAMES_UNTIL_REST = 500;
const FRAMES_PER_MS = 5;

/** More values than any input or result of a tool has; counted before anything is made of a line. */
const FRAME_BOUNDS: JsonBounds = { maxBytes: MAX_FRAME_BYTES, maxValues: 100_000, maxDepth: 100 };

export type FrameLinkParts<Incoming> = {
  readonly stream: Duplex;
  readonly schema: z.ZodType<Incoming>;
  readonly onFrame: (frame: Incoming) => void;
  /** Called at most once, with what is wrong in a few words; the link is closed by then. */
  readonly onGarbage: (reason: string) => void;
  /** Called once, whichever side closed and for whatever reason. */
  readonly onClose: () => void;
};

export type FrameLink<Outgoing> = {
  /** False, and nothing sent, when the frame is too long for the other side to take. */
  send(frame: Outgoing): boolean;
  close(): void;
};

/**
 * Speaks newline-delimited JSON frames over a connected stream.
 *
 * Never reads more than some 5,000 frames in a second, whatever comes: the other chats have their turn. Never holds more
 * than one frame's worth of what comes in: what does not end in time is garbage. Nor more than eight of what goes out: a
 * side that asks and does not read the answers is disconnected.
 */
export function openFrameLink<Incoming, Outgoing>(
  parts: FrameLinkParts<Incoming>,
): FrameLink<Outgoing> {
  const { stream } = parts;
  const lines = lineSplitter();
  let isOpen = true;
  let framesSinceRest = 0;

  const refuse = (reason: string) => {
    isOpen = false;
    stream.destroy();
    parts.onGarbage(reason);
  };
  stream.on('data', (chunk: Buffer) => {
    for (const line of lines(chunk)) {
      if (!isOpen) return;
      if (line === null) return refuse(`a message of more than ${MAX_FRAME_BYTES} bytes`);
      const frame = parseFrame(line, parts.schema);
      if (frame === null) return refuse('a message that is not in the protocol');
      framesSinceRest += 1;
      parts.onFrame(frame);
    }
    if (framesSinceRest < FRAMES_UNTIL_REST) return;
    // The other side waits as well: what it sends on fills its own buffers.
    stream.pause();
    setTimeout(() => stream.resume(), framesSinceRest / FRAMES_PER_MS).unref();
    framesSinceRest = 0;
  });
  // 'close' follows 'error' on every stream, and is where the loss is handled.
  stream.on('error', () => {});
  stream.on('end', () => stream.destroy());
  stream.once('close', () => {
    isOpen = false;
    parts.onClose();
  });

  return {
    send(frame) {
      const line = `${JSON.stringify(frame)}\n`;
      if (Buffer.byteLength(line) > MAX_FRAME_BYTES) return false;
      if (isOpen) stream.write(line);
      if (isOpen && stream.writableLength > MAX_UNREAD_BYTES) {
        refuse('messages without reading the answers');
      }
      return true;
    },
    close: () => stream.end(),
  };
}

/** Cuts chunks into lines without their newline; null once a line is too long. */
function lineSplitter(): (chunk: Buffer) => (Buffer | null)[] {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  return (chunk) => {
    const lines: (Buffer | null)[] = [];
    let rest = chunk;
    for (;;) {
      const newline = rest.indexOf(10);
      const part = newline === -1 ? rest : rest.subarray(0, newline);
      pending.push(part);
      pendingBytes += part.length;
      if (pendingBytes >= MAX_FRAME_BYTES) return [...lines, null];
      if (newline === -1) return lines;
      lines.push(Buffer.concat(pending));
      pending = [];
      pendingBytes = 0;
      rest = rest.subarray(newline + 1);
    }
  };
}

/** Reads one line as a frame; null if it is not one. */
export function parseFrame<T>(line: Buffer, schema: z.ZodType<T>): T | null {
  const read = readJsonHere(line, FRAME_BOUNDS);
  // Not JSON and not a frame are the same to the caller, who is told by null.
  if (read.kind === 'refused') return null;
  const parsed = schema.safeParse(read.value);
  return parsed.success ? parsed.data : null;
}

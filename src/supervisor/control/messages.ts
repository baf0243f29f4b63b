import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { ANSWER_ENDS } from '../../lib/answer-end.ts';
import { jsonWithin } from '../../lib/bounded-json.ts';

/** Messages from a shell to the running assistant. */
const ShellMessageSchema = z.discriminatedUnion('kind', [
  /** The owner says this in their terminal's chat. */
  z.object({ kind: z.literal('say'), text: z.string().trim().min(1) }),
  /** The owner has typed the beginning of a command: what can it become? */
  z.object({ kind: z.literal('complete'), id: z.int(), typed: z.string() }),
  /** From here on the shell also wants messages that it did not ask for: reminders, reports. */
  z.object({ kind: z.literal('watch') }),
]);

/** Messages from the running assistant to a shell. Texts of answers are Markdown. */
const AssistantMessageSchema = z.discriminatedUnion('kind', [
  /** First of all: who is there. */
  z.object({
    kind: z.literal('welcome'),
    name: z.string(),
    /** False of an older assistant, which ends a connection that asks it to `complete`. */
    completes: z.boolean().default(false),
  }),
  /** Whole lines that the beginning with this id can become. */
  z.object({ kind: z.literal('completions'), id: z.int(), lines: z.array(z.string()) }),
  /** An answer to this shell; for one that watches, also messages that it did not ask for. */
  z.object({
    kind: z.literal('answer'),
    text: z.string(),
    /** The id of what was `growing`, and has this text now that it is whole. */
    replaces: z.string().nullable().optional(),
  }),
  /** An answer that is being written: its first `from` characters stay, and this comes after them. */
  z.object({ kind: z.literal('growing'), id: z.string(), from: z.int(), text: z.string() }),
  /** The draft will not grow any more. */
  z.object({ kind: z.literal('dropped') }),
  /** The progress of this shell's command; its answer comes later. */
  z.object({ kind: z.literal('progress'), text: z.string() }),
  /** A notice, which answers nothing. */
  z.object({ kind: z.literal('notice'), text: z.string() }),
  /** The work that this shell waits for; null for none. */
  z.object({ kind: z.literal('activity'), text: z.string().nullable() }),
  /** Work on what this shell said waits for an answer: what it says next is one. */
  z.object({ kind: z.literal('asking') }),
  /** Work on everything this shell said has ended; `end` is that of the last without an answer, if there is one. */
  z.object({
    kind: z.literal('acknowledged'),
    end: z.enum(ANSWER_ENDS).catch('failed').default('answered'),
  }),
  /** The shell's message is not understood; the connection ends after this. */
  z.object({ kind: z.literal('refused'), message: z.string() }),
]);

export type ShellMessage = z.output<typeof ShellMessageSchema>;
export type AssistantMessage = z.output<typeof AssistantMessageSchema>;

/** Parses a message of a shell; null for anything else. */
export function parseShellMessage(value: unknown): ShellMessage | null {
  return ShellMessageSchema.safeParse(value).data ?? null;
}

/** Parses a message of the assistant; null for one of another version, which is skipped. */
export function parseAssistantMessage(value: unknown): AssistantMessage | null {
  return AssistantMessageSchema.safeParse(value).data ?? null;
}

type JsonLines = {
  /** Each line as a value; `undefined` for a line that is not JSON. */
  readonly onValue: (value: unknown) => void;
  /** A line is longer than it may be. */
  readonly onTooLong: () => void;
  readonly maxBytes: number;
};

/** Splits a stream of bytes into lines of JSON. Holds at most one line of the greatest length. */
export function jsonLines({ onValue, onTooLong, maxBytes }: JsonLines): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let isOver = false;
  return (chunk) => {
    if (isOver) return;
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onValue(jsonWithin(line));
    if (Buffer.byteLength(rest) > maxBytes) {
      isOver = true;
      rest = '';
      onTooLong();
    }
  };
}

export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

import { z } from 'zod';

/** What a shell says to the running assistant. */
const ShellMessageSchema = z.discriminatedUnion('kind', [
  /** The owner says this in their terminal's chat. */
  z.object({ kind: z.literal('say'), text: z.string().trim().min(1) }),
  /** From here on also what nobody asked for is wanted: reminders, reports. */
  z.object({ kind: z.literal('watch') }),
]);

/** What the running assistant says to a shell. Texts of answers are Markdown. */
const AssistantMessageSchema = z.discriminatedUnion('kind', [
  /** First of all: who is there. */
  z.object({ kind: z.literal('welcome'), name: z.string() }),
  /** What answers something this shell said; for one that watches, also what nobody asked for. */
  z.object({ kind: z.literal('answer'), text: z.string() }),
  /** How far a command is that this shell said; its answer comes later. */
  z.object({ kind: z.literal('progress'), text: z.string() }),
  /** Something to know that is no answer. */
  z.object({ kind: z.literal('notice'), text: z.string() }),
  /** What is under way that this shell waits for; null for nothing. */
  z.object({ kind: z.literal('activity'), text: z.string().nullable() }),
  /** Everything this shell said is answered. */
  z.object({ kind: z.literal('acknowledged') }),
  /** What was sent is not understood; the connection ends after this. */
  z.object({ kind: z.literal('refused'), message: z.string() }),
]);

export type ShellMessage = z.output<typeof ShellMessageSchema>;
export type AssistantMessage = z.output<typeof AssistantMessageSchema>;

/** Null for what is no message of a shell. */
export function parseShellMessage(value: unknown): ShellMessage | null {
  return ShellMessageSchema.safeParse(value).data ?? null;
}

/** Null for a message of another version, which is skipped. */
export function parseAssistantMessage(value: unknown): AssistantMessage | null {
  return AssistantMessageSchema.safeParse(value).data ?? null;
}

import { z } from 'zod';
import { ANSWER_ENDS } from '../lib/answer-end.ts';

/** Messages from the assistant's process to the supervisor. */
const ChildFrameSchema = z.discriminatedUnion('kind', [
  /** First of all: how to greet, and under which name the assistant goes. */
  z.object({ kind: z.literal('hello'), name: z.string(), greeting: z.string() }),
  /** From here on the terminal's lines are wanted. */
  z.object({ kind: z.literal('prompt'), text: z.string() }),
  z.object({
    kind: z.literal('print'),
    text: z.string(),
    /** Ids of the lines that it answers. */
    answersTo: z.array(z.string()).default([]),
    /** It says how far a command is, and answers nothing yet. */
    isProgress: z.boolean().default(false),
    /** The draft that it is the end of. */
    replaces: z.string().nullable().default(null),
  }),
  /** An answer that is being written: its first `from` characters stay, and this comes after them. */
  z.object({
    kind: z.literal('draft'),
    id: z.string(),
    from: z.int(),
    text: z.string(),
    activity: z.string().nullable(),
    answersTo: z.array(z.string()),
  }),
  /** That answer will not go on. */
  z.object({ kind: z.literal('draft-dropped'), id: z.string() }),
  /** A notice for the owner, which answers nothing. */
  z.object({ kind: z.literal('notice'), text: z.string() }),
  z.object({ kind: z.literal('stored'), number: z.int() }),
  z.object({
    kind: z.literal('answered'),
    ids: z.array(z.string()),
    end: z.enum(ANSWER_ENDS).catch('failed').default('answered'),
  }),
  z.object({ kind: z.literal('acknowledged'), number: z.int() }),
  /** Work on these lines waits for an answer to a question that was printed, or does not any more. */
  z.object({ kind: z.literal('asking'), ids: z.array(z.string()), isOpen: z.boolean() }),
  /** All channels were started: this tree works. */
  z.object({ kind: z.literal('healthy') }),
  z.object({ kind: z.literal('restart') }),
  /** The answer to `complete`. */
  z.object({ kind: z.literal('completions'), id: z.int(), lines: z.array(z.string()) }),
  /** The answer to `ping`: it does not hang. */
  z.object({ kind: z.literal('pong') }),
]);

/** Messages from the supervisor to the assistant's process. */
const SupervisorFrameSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('start'),
    /** True if a person is at the terminal; otherwise input is piped in. */
    isInteractive: z.boolean(),
    /** The last line that was stored and not acknowledged. */
    awaiting: z.int().nullable(),
    /** The reason that the tree published last was taken back; null when it was not. */
    rolledBack: z.string().nullable(),
    /** The composition in the tree before the process began to load; null from an older supervisor. */
    composition: z.string().nullable().default(null),
  }),
  z.object({
    kind: z.literal('line'),
    number: z.int(),
    id: z.string(),
    text: z.string(),
    typedAt: z.int(),
  }),
  /** Somebody typed the beginning of a command, and wants to know what it can become. */
  z.object({ kind: z.literal('complete'), id: z.int(), typed: z.string() }),
  z.object({ kind: z.literal('stop') }),
  z.object({ kind: z.literal('ping') }),
]);

export type ChildFrame = z.output<typeof ChildFrameSchema>;
export type SupervisorFrame = z.output<typeof SupervisorFrameSchema>;
export type StartFrame = Extract<SupervisorFrame, { readonly kind: 'start' }>;

/** Parses a frame; null for one of another version, which is skipped. */
export function parseChildFrame(value: unknown): ChildFrame | null {
  return ChildFrameSchema.safeParse(value).data ?? null;
}

/** Parses a frame; null for one of another version, which is skipped. */
export function parseSupervisorFrame(value: unknown): SupervisorFrame | null {
  return SupervisorFrameSchema.safeParse(value).data ?? null;
}

/** Exit code of the assistant's process when only the owner can help: trying again would not. */
export const EXIT_UNUSABLE = 2;
/** Exit code if the database or its disk cannot be used: other code would not start either. */
export const EXIT_DATABASE = 3;

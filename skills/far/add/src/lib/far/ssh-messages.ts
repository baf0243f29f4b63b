import { z } from 'zod';
import { MachineName } from './far-state.ts';

/** What the home sends to a machine that it sets up by ssh. None of it is secret: the machine's key stays there. */
export const SetupRequest = z.object({
  name: MachineName,
  host: z.string().min(1).max(253),
  port: z.number().int().min(1).max(65_535),
  certificate: z.string().max(8_000),
  /** Null keeps what was said before. */
  abilities: z.array(z.string().min(1).max(64)).max(32).nullable(),
  slots: z.number().int().min(1).max(1_000).nullable(),
});
export type SetupRequest = z.output<typeof SetupRequest>;

const Line = z.string().max(1_000);

/** What the machine tells, one line each. */
export const SetupNews = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('hello'),
    node: z.string().max(40),
    /** Free bytes on the disk of the worker's folder. */
    free: z.number().min(0),
    /** It has this worker already. */
    isThere: z.boolean(),
  }),
  z.object({ kind: z.literal('step'), text: Line }),
  z.object({
    kind: z.literal('key'),
    /** The public half. */
    key: z.string().max(100),
    /** The home that it has now, where that is another one. */
    other: Line.nullable(),
  }),
  z.object({ kind: z.literal('problem'), text: Line }),
  z.object({ kind: z.literal('done'), notes: z.array(Line).max(20) }),
]);
export type SetupNews = z.output<typeof SetupNews>;

/** Begins each line of the machine: a shell there may print more. */
export const NEWS_MARK = 'patchclaw-setup: ';
/** The home has taken the key. */
export const GO = 'go';

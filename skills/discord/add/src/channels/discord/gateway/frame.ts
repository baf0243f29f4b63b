import { z } from 'zod';
import { type JsonBounds, jsonWithin, MESSENGER_BOUNDS } from '../../../lib/bounded-json.ts';

/** Operations of Discord's gateway, version 10. */
export const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;

const Frame = z.looseObject({
  op: z.int(),
  d: z.unknown().optional(),
  s: z.int().nullish(),
  t: z.string().nullish(),
});

/** One message of the gateway. */
export type Frame = z.output<typeof Frame>;

/** Reads a message of the gateway; null for what is none, such as half of one. */
export function readFrame(data: unknown): Frame | null {
  if (typeof data !== 'string') return null;
  return Frame.safeParse(jsonWithin(data, FRAME_BOUNDS)).data ?? null;
}

/** A large server is told whole when the bot comes in. */
const FRAME_BOUNDS: JsonBounds = { ...MESSENGER_BOUNDS, maxValues: 400_000 };

export const Hello = z.looseObject({ heartbeat_interval: z.number().positive() });

export const Ready = z.looseObject({
  session_id: z.string(),
  resume_gateway_url: z.string(),
});

/** Events that a bot asks for, as bits. */
const INTENTS = {
  guilds: 1 << 0,
  guildMessages: 1 << 9,
  guildMessageReactions: 1 << 10,
  directMessages: 1 << 12,
  directMessageReactions: 1 << 13,
} as const;

/** The intents of this channel without the one that the owner has to switch on. */
export const PLAIN_INTENTS = Object.values(INTENTS).reduce((all, bit) => all | bit, 0);
export const MESSAGE_CONTENT = 1 << 15;

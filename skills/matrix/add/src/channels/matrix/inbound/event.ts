import { z } from 'zod';

/** An event of a room. Its content is read by its type. */
export const RoomEvent = z.looseObject({
  event_id: z.string(),
  type: z.string(),
  sender: z.string(),
  origin_server_ts: z.number().default(0),
  state_key: z.string().optional(),
  content: z.record(z.string(), z.unknown()).default({}),
  redacts: z.string().optional(),
});
export type RoomEvent = z.output<typeof RoomEvent>;

const StateEvent = z.looseObject({
  type: z.string(),
  sender: z.string().default(''),
  state_key: z.string().default(''),
  content: z.record(z.string(), z.unknown()).default({}),
});
export type StateEvent = z.output<typeof StateEvent>;

/** Lists of events may hold some in a shape that is not known, which are none. */
function listOf<T>(schema: z.ZodType<T>) {
  return z
    .looseObject({ events: z.array(z.unknown()).default([]) })
    .default({ events: [] })
    .transform(({ events }): readonly T[] =>
      events.flatMap((event) => {
        const { data } = schema.safeParse(event);
        return data === undefined ? [] : [data];
      }),
    );
}

const Joined = z.looseObject({
  state: listOf(StateEvent),
  timeline: z
    .looseObject({
      events: z.array(z.unknown()).default([]),
      limited: z.boolean().default(false),
      prev_batch: z.string().optional(),
    })
    .default({ events: [], limited: false }),
  summary: z
    .looseObject({
      'm.joined_member_count': z.int().optional(),
      'm.heroes': z.array(z.string()).optional(),
    })
    .default({}),
});
export type JoinedRoom = z.output<typeof Joined>;

/** An answer to a sync. */
export const Sync = z.looseObject({
  next_batch: z.string(),
  rooms: z
    .looseObject({
      join: z.record(z.string(), Joined).default({}),
      invite: z.record(z.string(), z.looseObject({ invite_state: listOf(StateEvent) })).default({}),
      leave: z.record(z.string(), z.unknown()).default({}),
    })
    .default({ join: {}, invite: {}, leave: {} }),
  account_data: listOf(StateEvent),
  to_device: z.looseObject({ events: z.array(z.unknown()).default([]) }).default({ events: [] }),
  device_lists: z
    .looseObject({
      changed: z.array(z.string()).default([]),
      left: z.array(z.string()).default([]),
    })
    .default({ changed: [], left: [] }),
  device_one_time_keys_count: z.record(z.string(), z.number()).default({}),
  device_unused_fallback_key_types: z.array(z.string()).nullable().default(null),
});
export type Sync = z.output<typeof Sync>;

/** The relation of an event to another. */
export const Relation = z.looseObject({
  rel_type: z.string().optional(),
  event_id: z.string().optional(),
  key: z.string().optional(),
  is_falling_back: z.boolean().optional(),
  'm.in_reply_to': z.looseObject({ event_id: z.string() }).optional(),
});

/** Returns how an event belongs to another; nothing where it does not. */
export function relationOf(content: Readonly<Record<string, unknown>>): z.output<typeof Relation> {
  return Relation.safeParse(content['m.relates_to']).data ?? {};
}

const Info = z
  .looseObject({
    mimetype: z.string().optional(),
    size: z.number().nonnegative().optional(),
    duration: z.number().nonnegative().optional(),
  })
  .default({});

/** The content of a message. */
export const Message = z.looseObject({
  msgtype: z.string(),
  body: z.string().default(''),
  formatted_body: z.string().optional(),
  filename: z.string().optional(),
  url: z.string().optional(),
  file: z.looseObject({ url: z.string() }).optional(),
  info: Info,
  geo_uri: z.string().optional(),
  'm.mentions': z.looseObject({ user_ids: z.array(z.string()).default([]) }).optional(),
  'org.matrix.msc3245.voice': z.unknown().optional(),
});
export type Message = z.output<typeof Message>;

/** A field of an event's content, where it is text. */
export function textIn(content: Readonly<Record<string, unknown>>, field: string): string | null {
  const value = content[field];
  return typeof value === 'string' ? value : null;
}

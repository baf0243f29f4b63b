import type * as webApi from '@slack/web-api';
import { z } from 'zod';

/** The mark on each message that the app posts: Slack takes no id of ours by which it would know one that is repeated. */
const EVENT_TYPE = 'claw_message';
/** Clocks of two machines differ. */
const SKEW_MS = 300_000;
const MAX_PAGES = 5;

const Posted = z.looseObject({
  ts: z.string(),
  metadata: z.looseObject({
    event_type: z.literal(EVENT_TYPE),
    event_payload: z.looseObject({ id: z.string(), part: z.int() }),
  }),
});

/** One part of a message of the host's. */
export type Mark = { readonly id: string; readonly part: number };

export type Place = {
  readonly channel: string;
  readonly thread: string | null;
  /** The message is no older, in milliseconds since the epoch by the clock of this machine. */
  readonly since: number;
};

/** Returns the metadata that a message is posted with. People do not see it. */
export function markOf({ id, part }: Mark) {
  return { event_type: EVENT_TYPE, event_payload: { id, part } };
}

/**
 * Looks for the part of a message in its conversation, which an earlier attempt of unknown outcome may have left there.
 *
 * @returns its time stamp; null where it is not among the last thousand messages since then
 */
export async function findPosted(
  web: webApi.WebClient,
  { id, part }: Mark,
  { channel, thread, since }: Place,
): Promise<string | null> {
  const oldest = String(Math.max(0, since - SKEW_MS) / 1_000);
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const asked = {
      channel,
      oldest,
      limit: 200,
      include_all_metadata: true,
      ...(cursor === '' ? {} : { cursor }),
    };
    const answer =
      thread === null
        ? await web.conversations.history(asked)
        : await web.conversations.replies({ ...asked, ts: thread });
    for (const message of answer.messages ?? []) {
      const posted = Posted.safeParse(message).data;
      const mark = posted?.metadata.event_payload;
      if (posted !== undefined && mark?.id === id && mark.part === part) return posted.ts;
    }
    cursor = answer.response_metadata?.next_cursor ?? '';
    if (cursor === '') break;
  }
  return null;
}

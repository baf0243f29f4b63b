import type * as webApi from '@slack/web-api';
import { z } from 'zod';
import { causeInWords } from '../kit/cause.ts';
import { readFailure, SlackError } from './failure.ts';

/** The mark on each message that the app posts. */
const EVENT_TYPE = 'claw_message';
/** Clocks of two machines differ. */
const SKEW_MS = 300_000;
const MAX_PAGES = 5;

const Posted = z.looseObject({
  ts: z.string(),
  metadata: z
    .looseObject({
      event_type: z.literal(EVENT_TYPE),
      event_payload: z.looseObject({ id: z.string(), part: z.int() }),
    })
    .optional()
    .catch(undefined),
  files: z.array(z.looseObject({ id: z.string() })).catch([]),
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
 * Looks for a message in its conversation, by its mark or by the id of a file that it shows. An app that may not look
 * finds nothing.
 *
 * @returns its time stamp; null where it is not among the last thousand messages since then
 * @throws SlackError UNREACHABLE where Slack does not answer, and what Slack's client throws where it asks for a pause
 */
export async function findPosted(
  web: webApi.WebClient,
  wanted: Mark | { readonly fileId: string },
  place: Place,
): Promise<string | null> {
  try {
    return await lookFor(web, wanted, place);
  } catch (error) {
    const failure = readFailure(error);
    if (failure.kind === 'refused') return null;
    if (failure.kind === 'rate-limited') throw error;
    const cause = causeInWords(failure.cause);
    throw new SlackError('UNREACHABLE', `Slack cannot be reached (${cause}).`);
  }
}

async function lookFor(
  web: webApi.WebClient,
  wanted: Mark | { readonly fileId: string },
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
      if (posted === undefined) continue;
      const mark = posted.metadata?.event_payload;
      const isIt =
        'fileId' in wanted
          ? posted.files.some(({ id }) => id === wanted.fileId)
          : mark?.id === wanted.id && mark.part === wanted.part;
      if (isIt) return posted.ts;
    }
    cursor = answer.response_metadata?.next_cursor ?? '';
    if (cursor === '') break;
  }
  return null;
}

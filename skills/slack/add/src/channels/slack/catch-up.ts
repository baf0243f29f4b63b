import type * as webApi from '@slack/web-api';
import { z } from 'zod';
import type { ChannelClock, ChannelLog } from '../channel.ts';
import { readFailure } from './failure.ts';
import type { SeenMessages } from './seen-messages.ts';

const PAGE = 200;
/** A conversation in which thousands were written meanwhile is not read to its end. */
const MOST_PAGES = 5;
/** Threads are asked about whose first message is no older than the last one that was heard, and a day. */
const LOOK_BACK_S = 86_400;
const ATTEMPTS = 5;
/** Answers that say that the app is not in a conversation any more. */
const GONE = new Set(['channel_not_found', 'not_in_channel', 'is_archived']);

const Message = z.looseObject({
  ts: z.string(),
  thread_ts: z.string().optional(),
  latest_reply: z.string().optional().catch(undefined),
});
type Message = z.output<typeof Message>;

export type CatchUp = {
  readonly web: webApi.WebClient;
  readonly seen: SeenMessages;
  readonly clock: ChannelClock;
  readonly log: ChannelLog;
  readonly signal: AbortSignal;
  /** Resolves when what is in the body of such an envelope is stored. */
  readonly take: (body: unknown) => Promise<void>;
};

/**
 * Asks for what was written while no line was open, in each conversation where somebody was heard before: Slack sends an
 * event again only for a while, and not after it was acknowledged, as before a restore.
 *
 * Rejects where Slack cannot be asked now.
 */
export async function catchUp(options: CatchUp): Promise<void> {
  const rows = options.seen.latest();
  for (const channel of new Set(rows.map((row) => row.channel))) {
    if (options.signal.aborted) return;
    const known = new Map(
      rows.filter((row) => row.channel === channel).map(({ thread, ts }) => [thread, ts]),
    );
    try {
      await catchUpIn(options, channel, known);
    } catch (error) {
      const failure = readFailure(error);
      if (failure.kind !== 'refused') throw error;
      if (GONE.has(failure.error)) options.seen.forget(channel);
      else options.log.warn('Slack did not tell what was missed', { cause: failure.error });
    }
  }
}

/** @param known the last message that was stored, of the conversation (null) and of threads in it */
async function catchUpIn(
  options: CatchUp,
  channel: string,
  known: ReadonlyMap<string | null, string>,
): Promise<void> {
  const newest = [...known.values()].toSorted().at(-1) ?? '';
  const last = known.get(null) ?? newest;
  const since = Math.max(0, Number(last) - LOOK_BACK_S).toFixed(6);
  const said = await pagesOf(options, { channel, oldest: since });
  const missed = said.filter(({ ts }) => ts > last);
  const threads = new Set([...known.keys()].filter((thread) => thread !== null));
  for (const { ts, latest_reply: latest = '' } of said) {
    if (latest > (known.get(ts) ?? '')) threads.add(ts);
  }
  for (const thread of threads) {
    const oldest = known.get(thread) ?? thread;
    const replies = await pagesOf(options, { channel, ts: thread, oldest });
    missed.push(...replies.filter(({ ts }) => ts > oldest && ts !== thread));
  }
  const inOrder = [...new Map(missed.map((message) => [message.ts, message])).values()];
  inOrder.sort((one, other) => (one.ts < other.ts ? -1 : 1));
  for (const message of inOrder) {
    if (options.signal.aborted) return;
    await options.take({ event: { ...message, channel } });
  }
}

/** Returns the messages of a conversation, or of a thread where `ts` names one; not more than a thousand. */
async function pagesOf(
  { web, clock, signal }: CatchUp,
  asked: { readonly channel: string; readonly oldest: string; readonly ts?: string },
): Promise<readonly Message[]> {
  const found: Message[] = [];
  let cursor = '';
  for (let page = 0; page < MOST_PAGES && !signal.aborted; page += 1) {
    const where = { ...asked, limit: PAGE, ...(cursor === '' ? {} : { cursor }) };
    const answer = await patiently(
      () =>
        asked.ts === undefined
          ? web.conversations.history(where)
          : web.conversations.replies({ ...where, ts: asked.ts }),
      { clock, signal },
    );
    found.push(...(answer.messages ?? []).flatMap((one) => Message.safeParse(one).data ?? []));
    cursor = answer.response_metadata?.next_cursor ?? '';
    if (cursor === '') break;
  }
  return found;
}

/** Makes a request again, after the pause that Slack asks for. */
async function patiently<T>(
  request: () => Promise<T>,
  { clock, signal }: Pick<CatchUp, 'clock' | 'signal'>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      const failure = readFailure(error);
      if (failure.kind !== 'rate-limited' || attempt === ATTEMPTS || signal.aborted) throw error;
      await clock.pause(failure.waitMs, signal);
    }
  }
}

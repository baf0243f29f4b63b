import type { Update, UserFromGetMe } from 'grammy/types';
import type { Api } from 'grammy/web';
import type { ChannelClock, ChannelLog, ChannelStatus } from '../channel.ts';
import { backoffMs } from '../kit/backoff.ts';
import { ALBUM_PAUSE_MS, albumOf, MOST_ALBUM_LOOKS, together } from './albums.ts';
import { explainFailure } from './failure.ts';
import { forGrammy } from './signal.ts';

/** Parts of the polling loop; `take` resolves when the updates are stored: one, or those of an album. */
export type Polling = {
  readonly api: Api;
  readonly signal: AbortSignal;
  readonly longPollSeconds: number;
  readonly clock: ChannelClock;
  readonly log: ChannelLog;
  readonly take: (updates: readonly Update[], me: UserFromGetMe) => Promise<void>;
  readonly report: (status: ChannelStatus) => void;
  /** Hands over what came in another way before; polling begins when it returns true. */
  readonly before: (me: UserFromGetMe) => Promise<boolean>;
};

/**
 * The least time from one request to the next when the answer brought nothing new. Telegram holds such a
 * request for `longPollSeconds`; a gateway or a Bot API server that answers at once must not be asked
 * hundreds of times a second.
 */
const QUIET_POLL_MS = 1_000;

/** The kinds of updates that Telegram is asked for. Reactions in a group come only to a bot that is its administrator. */
export const UPDATES = [
  'message',
  'edited_message',
  'my_chat_member',
  'callback_query',
  'message_reaction',
] as const;

/** A last word to Telegram must not keep a restart waiting. */
const CONFIRM_MS = 2_000;

/**
 * Fetches updates until the signal is aborted or Telegram refuses the token. Never rejects.
 *
 * Telegram forgets an update when the next request names a higher offset. The offset moves only past
 * updates that `take` has resolved for, so what was not stored comes again, after a crash as well.
 */
export async function pollUpdates(polling: Polling): Promise<void> {
  const { signal, report, clock } = polling;
  const cursor: Cursor = { offset: 0, confirmed: 0 };
  let me: UserFromGetMe | null = null;
  let failures = 0;
  let isBegun = false;
  // The first poll returns at once and shows that all is well. After a failure only a poll that was
  // not cut short shows it: of two programs that poll with one token, each one's start ends the other's.
  let timeout = 0;
  while (!signal.aborted) {
    try {
      me ??= await introduce(polling);
      if (!isBegun) {
        isBegun = await polling.before(me);
        if (!isBegun) {
          await clock.pause(backoffMs(failures, clock.random()), signal);
          failures += 1;
          continue;
        }
      }
      const isLongPoll = timeout > 0;
      const { offset } = cursor;
      const askedAt = clock.now();
      const updates = await fetchWholeAlbums(polling, cursor, timeout);
      report({ state: 'connected', detail: null });
      timeout = polling.longPollSeconds;
      if (await storeInOrder(polling, { updates, me, cursor })) {
        failures = 0;
        const isQuiet = isLongPoll && cursor.offset <= offset;
        if (isQuiet) await clock.pause(restOfQuiet(clock.now() - askedAt), signal);
        continue;
      }
      await clock.pause(backoffMs(failures, clock.random()), signal);
      failures += 1;
    } catch (error) {
      if (signal.aborted) break;
      const failure = explainFailure(error);
      report(failure.status);
      if (failure.isFinal) return;
      await clock.pause(failure.waitMs ?? backoffMs(failures, clock.random()), signal);
      failures += 1;
      timeout = failure.status.state === 'failed' ? polling.longPollSeconds : 0;
    }
  }
  if (cursor.offset > cursor.confirmed) await confirm(polling, cursor);
}

/** Returns what is left of the pause. A clock that was set back meanwhile makes it no longer. */
function restOfQuiet(passedMs: number): number {
  return QUIET_POLL_MS - Math.min(QUIET_POLL_MS, Math.max(0, passedMs));
}

type Cursor = { offset: number; confirmed: number };

/** A webhook left over from another program would keep updates away; what waits there is kept. */
async function introduce({ api, signal }: Polling): Promise<UserFromGetMe> {
  const me = await api.getMe(forGrammy(signal));
  await api.deleteWebhook({ drop_pending_updates: false }, forGrammy(signal));
  return me;
}

async function fetchUpdates(
  { api, signal }: Polling,
  cursor: Cursor,
  timeout: number,
): Promise<readonly Update[]> {
  const { offset } = cursor;
  const updates = await api.getUpdates(
    { offset, timeout, allowed_updates: UPDATES },
    forGrammy(signal),
  );
  cursor.confirmed = offset;
  return updates;
}

/**
 * Fetches updates, and where the last one is part of an album, waits until no more of it come. Nothing is confirmed
 * meanwhile: the same offset is asked for again.
 */
async function fetchWholeAlbums(
  polling: Polling,
  cursor: Cursor,
  timeout: number,
): Promise<readonly Update[]> {
  let updates = await fetchUpdates(polling, cursor, timeout);
  for (let looks = 0; looks < MOST_ALBUM_LOOKS; looks += 1) {
    if (albumOf(updates.at(-1)) === null || polling.signal.aborted) break;
    await polling.clock.pause(ALBUM_PAUSE_MS, polling.signal);
    if (polling.signal.aborted) break;
    const now = await fetchUpdates(polling, cursor, 0);
    if (now.length <= updates.length) break;
    updates = now;
  }
  return updates;
}

/** Stops at the first update that is not stored: an offset behind it would confirm it as well. */
async function storeInOrder(
  { take, log }: Polling,
  batch: { updates: readonly Update[]; me: UserFromGetMe; cursor: Cursor },
): Promise<boolean> {
  const { updates, me, cursor } = batch;
  const waiting = new Set(updates.map(({ update_id: id }) => id));
  for (const unit of together(updates)) {
    try {
      await take(unit, me);
    } catch (error) {
      log.warn('a message from Telegram was not stored and will be fetched again', {
        updateId: unit[0]?.update_id,
        cause: error instanceof Error ? error.message : String(error),
      });
      return false;
    }
    for (const { update_id: id } of unit) waiting.delete(id);
    const [first] = waiting;
    const last = updates.at(-1)?.update_id ?? cursor.offset - 1;
    cursor.offset = first ?? last + 1;
  }
  return true;
}

/** Saves the next start a repetition. Where it fails, the host sees messages again that it knows. */
async function confirm({ api, log }: Polling, { offset }: Cursor): Promise<void> {
  try {
    const soon = AbortSignal.timeout(CONFIRM_MS);
    await api.getUpdates({ offset, limit: 1, timeout: 0 }, forGrammy(soon));
  } catch {
    log.info('Telegram will deliver the last messages again');
  }
}

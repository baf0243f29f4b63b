import type { AskLinear } from '../../lib/linear/api.ts';
import type { LinearSettings } from '../../lib/linear/settings.ts';
import type { ChannelClock, ChannelEvents } from '../channel.ts';
import { isAllowed } from '../kit/allow-list.ts';
import { type News, newsIn } from './activity-messages.ts';
import { changedComments, changedIssues, type FarPerson } from './far.ts';
import type { Progress, Records } from './records.ts';

/** Changes may become visible at Linear after later ones: each look begins so much earlier. */
const OVERLAP_MS = 120_000;
/** The longest time for which the work on one issue keeps the others waiting. */
const HOLD_MS = 15 * 60_000;
const CLOCK_TOLERANCE_MS = 5_000;
/** The place of the cursor before the first connection. */
const NEVER = -1;

export type FeedOptions = {
  readonly ask: AskLinear;
  readonly clock: ChannelClock;
  readonly records: Records;
  readonly settings: Pick<LinearSettings, 'allowFrom'>;
};

/**
 * Hands over what is new at Linear. One chat has all issues, and the answer of a turn goes to one: so the next issue
 * waits until the assistant has answered what it was told of the one before. It waits at Linear: nothing of it is lost.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #strangers = new Set<string>();
  #isChatTold = false;
  #open: { readonly issueId: string; readonly ids: Set<string>; readonly since: number } | null =
    null;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Notes, at the first start, from when on comments count. */
  begin(now: number): void {
    const { records } = this.#options;
    if (records.progress() === null) records.advance({ floor: now, cursor: NEVER });
  }

  /** Corrects that time at the first connection, where the clock of this machine is wrong by so much. */
  setClock(offMs: number): void {
    const { records } = this.#options;
    const progress = records.progress();
    if (progress?.cursor !== NEVER) return;
    // Linear tells its time in whole seconds.
    const isWrong = Math.abs(offMs) > CLOCK_TOLERANCE_MS;
    records.advance({ floor: progress.floor + (isWrong ? offMs : 0), cursor: 0 });
  }

  /** Looks once. Rejects where Linear does not answer, or the host does not store. */
  async look(me: string, events: ChannelEvents, signal: AbortSignal): Promise<void> {
    const { ask, records } = this.#options;
    const progress = records.progress() ?? { floor: 0, cursor: 0 };
    const since = Math.max(0, progress.cursor - OVERLAP_MS);
    const issues = await changedIssues(ask, since, signal);
    const comments = await changedComments(ask, Math.max(progress.floor, since), signal);
    const news = newsIn(issues, comments, me);
    const waiting = await this.#handOver(news, events);
    this.#advance(progress, news, waiting);
  }

  /** Told that messages are answered. @returns true when another issue may come */
  answered(ids: readonly string[]): boolean {
    if (this.#open === null) return false;
    for (const id of ids) this.#open.ids.delete(id);
    if (this.#open.ids.size > 0) return false;
    this.#open = null;
    return true;
  }

  /** Told that nothing is left to answer. @returns true when another issue may come */
  allAnswered(): boolean {
    const wasOpen = this.#open !== null;
    this.#open = null;
    return wasOpen;
  }

  /** @returns what has to wait */
  async #handOver(news: readonly News[], events: ChannelEvents): Promise<readonly News[]> {
    const { records, settings } = this.#options;
    const waiting: News[] = [];
    for (const one of news) {
      const { message, issueId, by } = one;
      if (records.isHanded(message.id)) continue;
      if (!isWelcome(settings, by)) {
        if (!this.#strangers.has(message.id)) await events.onStranger?.(by.email ?? by.id);
        this.#strangers.add(message.id);
        records.noteHanded(message.id, issueId);
        continue;
      }
      if (this.#mustWait(issueId)) {
        waiting.push(one);
        continue;
      }
      if (!this.#isChatTold) {
        await events.onChat({ jid: message.jid, name: message.chatName, isDirect: true });
        this.#isChatTold = true;
      }
      this.#begin(one);
      await events.onMessage(message);
      records.noteHanded(message.id, issueId);
    }
    return waiting;
  }

  #mustWait(issueId: string): boolean {
    const open = this.#open;
    if (open === null || open.issueId === issueId) return false;
    const heldMs = this.#options.clock.now() - open.since;
    // Less than nothing where the clock was set back: nobody waits for it to come round again.
    return heldMs >= 0 && heldMs < HOLD_MS;
  }

  #begin({ message, issueId }: News): void {
    if (message.isContext === true) return;
    const since = this.#options.clock.now();
    const ids = this.#open?.issueId === issueId ? this.#open.ids : new Set<string>();
    this.#open = { issueId, ids: ids.add(message.id), since };
  }

  #advance(progress: Progress, news: readonly News[], waiting: readonly News[]): void {
    const times = (waiting.length > 0 ? waiting : news).map(({ changedAt }) => changedAt);
    if (times.length === 0) return;
    const cursor = waiting.length > 0 ? Math.min(...times) : Math.max(...times, progress.cursor);
    this.#options.records.advance({ ...progress, cursor });
  }
}

function isWelcome(
  { allowFrom }: Pick<LinearSettings, 'allowFrom'>,
  { id, email }: FarPerson,
): boolean {
  return [id.toLowerCase(), email?.toLowerCase()].some(
    (one) => one != null && isAllowed(allowFrom, one),
  );
}

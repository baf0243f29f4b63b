import { UnknownDelivery } from '../../../channels/channel.ts';
import type { Turn } from '../../../store/store.ts';
import type { ChannelOf } from '../../address-book.ts';
import type {
  ClockPort,
  IdPort,
  LogPort,
  StorePort,
  TimeoutsPort,
  TimerPort,
} from '../../contracts/ports.ts';
import { withPictureWords } from '../answer-files.ts';
import { createActivities } from './activities.ts';
import { within } from './channel-timeout.ts';

export type LiveAnswersOptions = StorePort &
  ClockPort &
  IdPort &
  TimerPort &
  TimeoutsPort &
  LogPort & {
    readonly channelOf: ChannelOf;
    /** Queues a line that says what a turn does, where the channel shows no drafts. */
    readonly say: (jid: string, text: string, turnId: string) => void;
  };

/** The first words come soon, but not before there are some. */
const FIRST_STEP_MS = 500;
/** After so many failures in a row the answer comes in one piece. */
const MAX_FAILURES = 3;

/** Ways to a chat: in order, and one to take a draft away. */
export type Lane = {
  readonly inLane: (jid: string, work: () => Promise<void>) => Promise<void>;
  readonly takeBack: (jid: string, messageId: string) => Promise<void>;
};

/** The steps in which one answer is shown. */
export class Steps {
  readonly #options: LiveAnswersOptions;
  readonly #turn: Pick<Turn, 'id' | 'jid'>;
  readonly #lane: Lane;
  readonly #activities = createActivities();
  #cancelSlow: () => void;
  #text = '';
  /** The turn has taken so long that a chat wants to know what it does. */
  #isSlow = false;
  #isClosed = false;
  #isTold = false;
  #isChanged = false;
  /** The last step that was taken. */
  #shown = '';
  #isUnderWay = false;
  #failures = 0;
  #lastStep = Number.NEGATIVE_INFINITY;
  #cancelStep: (() => void) | null = null;

  constructor(options: LiveAnswersOptions, turn: Pick<Turn, 'id' | 'jid'>, lane: Lane) {
    this.#options = options;
    this.#turn = turn;
    this.#lane = lane;
    this.#cancelSlow = this.#waitUntilSlow();
  }

  #waitUntilSlow(): () => void {
    const { setTimer, timeouts } = this.#options;
    return setTimer(timeouts.activityMs, () => {
      this.#isSlow = true;
      this.#changed();
    });
  }

  addText(delta: string): void {
    this.#text += delta;
    this.#changed();
  }

  begin(line: string): () => void {
    const end = this.#activities.begin(line);
    this.#changed();
    return () => {
      end();
      this.#changed();
    };
  }

  beginQuestion(): () => void {
    const end = this.#activities.beginQuestion();
    return () => {
      end();
      if (this.#isClosed) return;
      // The time in which a person was asked is not the turn's.
      this.#cancelSlow();
      this.#isSlow = false;
      this.#cancelSlow = this.#waitUntilSlow();
    };
  }

  /** Wakes a step whose reason to wait may be over. */
  wake(): void {
    if (this.#isChanged) this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSlow();
    this.#cancelStep?.();
    this.#cancelStep = null;
  }

  #changed(): void {
    if (this.#isClosed) return;
    if (this.#drafts() === undefined) {
      this.#tellOnce();
    } else if (this.#text.trim() !== '' || this.#isSlow) {
      this.#isChanged = true;
      this.#schedule();
    }
  }

  #drafts() {
    return this.#options.channelOf(this.#turn.jid)?.capabilities?.drafts;
  }

  #schedule(): void {
    const { now, setTimer } = this.#options;
    const everyMs = this.#everyMs();
    if (this.#isClosed || this.#isUnderWay || this.#cancelStep !== null) return;
    if (everyMs === undefined || this.#failures >= MAX_FAILURES) return;
    const isFirst = this.#lastStep === Number.NEGATIVE_INFINITY;
    const since = now() - this.#lastStep;
    const waitMs = isFirst
      ? Math.min(everyMs, FIRST_STEP_MS)
      : // A clock that was set back makes the wait no longer.
        Math.min(Math.max(everyMs * 4 ** this.#failures - since, 0), everyMs * 4 ** this.#failures);
    this.#cancelStep = setTimer(waitMs, () => {
      this.#cancelStep = null;
      void this.#step();
    });
  }

  /** Returns the least time from one step to the next; undefined where there are none. */
  #everyMs(): number | undefined {
    const drafts = this.#drafts();
    if (drafts?.everyMsInGroup === undefined) return drafts?.everyMs;
    const chat = this.#options.store.chats.byJid(this.#turn.jid);
    return chat?.isDirect === false ? drafts.everyMsInGroup : drafts.everyMs;
  }

  async #step(): Promise<void> {
    const { store, channelOf } = this.#options;
    const { jid } = this.#turn;
    // What is queued there is older than this text; its delivery wakes the next step.
    const isFree =
      channelOf(jid)?.status().state === 'connected' &&
      store.groups.byJid(jid)?.jid === jid &&
      !store.outbox.hasUnsent(jid);
    if (this.#isClosed || !isFree) return;
    this.#isUnderWay = true;
    this.#isChanged = false;
    await this.#lane.inLane(jid, () => this.#show());
    this.#isUnderWay = false;
    this.#lastStep = this.#options.now();
    if (this.#isChanged) this.#schedule();
  }

  async #show(): Promise<void> {
    if (this.#isClosed) return;
    const activity = this.#isSlow ? this.#activities.line(this.#text === '') : null;
    const step = `${activity ?? ''}\n${this.#text}`;
    if (step === this.#shown) return;
    try {
      const id = await this.#draftId();
      if (id === null || this.#isClosed) return;
      await within(this.#showAs(id, activity), this.#options.timeouts.sendTimeoutMs);
      this.#failures = 0;
      this.#shown = step;
    } catch (error) {
      // It may be there, under an id that its channel has not learnt: another one would be a second.
      const isUnknown = error instanceof UnknownDelivery;
      this.#failures = isUnknown ? MAX_FAILURES : this.#failures + 1;
      this.#isChanged = true;
      throw error;
    }
  }

  async #showAs(id: string, activity: string | null): Promise<void> {
    const { store, channelOf } = this.#options;
    const { id: turnId, jid } = this.#turn;
    const channel = channelOf(jid);
    const can = channel?.capabilities ?? {};
    const { replyTo, thread } = store.drafts.placeOf(turnId);
    await channel?.draft?.({
      id,
      jid,
      text: withPictureWords(this.#text),
      activity,
      ...(channel.answered === undefined ? {} : { answersTo: store.turns.asked(turnId) }),
      ...(can.replyTo && replyTo !== null ? { replyTo } : {}),
      ...(can.thread && thread !== null ? { thread } : {}),
    });
  }

  /** Returns the draft to change: a new one where something came after the last. Null where the turn is gone. */
  async #draftId(): Promise<string | null> {
    const { store, now, newId } = this.#options;
    const { id: turnId, jid } = this.#turn;
    const draft = store.drafts.of(turnId, now());
    if (draft !== null && !draft.isBuried) return draft.messageId;
    if (draft !== null) await this.#lane.takeBack(jid, draft.messageId);
    if (this.#isClosed) return null;
    const messageId = newId();
    const staysLast = this.#drafts()?.staysLast === true;
    store.drafts.begin({ messageId, turnId, staysLast }, now());
    return store.drafts.of(turnId, now()) === null ? null : messageId;
  }

  /** Says once what a long turn does, where the chat can show no more than that. */
  #tellOnce(): void {
    const { store, say } = this.#options;
    const { id, jid } = this.#turn;
    if (!this.#isSlow || this.#isTold || this.#activities.isAsking()) return;
    if (store.groups.byJid(jid)?.jid !== jid || store.asks.inChat(jid).length > 0) return;
    this.#isTold = true;
    say(jid, `… ${this.#activities.line(true) ?? 'thinking'}`, id);
  }
}

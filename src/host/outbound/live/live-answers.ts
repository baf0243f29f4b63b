import { UnknownDelivery } from '../../../channels/channel.ts';
import { TIMED_OUT, withTimeout } from '../../../lib/timeout.ts';
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

/** The answer of one turn, on its way to the chat. */
export interface LiveAnswer {
  addText(delta: string): void;
  /** Something is done, which this line tells; returns the function that tells its end. */
  begin(line: string): () => void;
  /** A person is asked, who must not be disturbed; returns the function that tells the end of that. */
  beginQuestion(): () => void;
  /** Nothing more is shown: the turn is over. */
  close(): void;
}

/** Answers that chats see while they are written, and lines that say what a long turn does. */
export interface LiveAnswers {
  open(turn: Pick<Turn, 'id' | 'jid'>): LiveAnswer;
  /** Resolves when no step is on its way to a chat any more: none may overtake an answer. Null where none is. */
  quiet(jid: string): Promise<void> | null;
  /** A message of this chat left the outbox: a step that waited for that can go. */
  delivered(jid: string): void;
  /** Takes away the drafts of turns that have ended, where no answer has replaced them. */
  sweep(): void;
  stop(): void;
}

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

/**
 * Opens the live answers.
 *
 * A step is provisional: it is no message of the outbox, may fail, and is never repeated. The answer itself is
 * stored at the end of its turn as ever, and replaces what the steps have shown (docs/decisions/drafts.md).
 */
export function openLiveAnswers(options: LiveAnswersOptions): LiveAnswers {
  const { store, channelOf, log } = options;
  const lanes = new Map<string, Promise<void>>();
  const open = new Map<string, Set<Steps>>();
  const failedSweeps = new Map<string, number>();
  let isStopped = false;

  /** Runs what goes to a chat after what goes there already. Never rejects. */
  function inLane(jid: string, work: () => Promise<void>): Promise<void> {
    const lane = (lanes.get(jid) ?? Promise.resolve()).then(work).catch((error: unknown) => {
      log.warn('a draft was not shown', { error: String(error) });
    });
    lanes.set(jid, lane);
    void lane.then(() => {
      if (lanes.get(jid) === lane) lanes.delete(jid);
    });
    return lane;
  }

  async function takeBack(jid: string, messageId: string): Promise<void> {
    const taken = channelOf(jid)?.takeBack?.(jid, messageId) ?? Promise.resolve();
    await within(taken, options.timeouts.sendTimeoutMs);
    store.drafts.remove(messageId);
  }

  async function sweepOne(jid: string, messageId: string): Promise<void> {
    const failures = failedSweeps.get(messageId) ?? 0;
    if (isStopped || failures >= MAX_FAILURES) return;
    if (channelOf(jid)?.status().state !== 'connected') return;
    try {
      await takeBack(jid, messageId);
    } catch (error) {
      // It ends with the sign that it is not whole, and the next process tries again.
      failedSweeps.set(messageId, failures + 1);
      throw error;
    }
  }

  return {
    open(turn) {
      const { jid } = turn;
      const steps = new Steps(options, turn, { inLane, takeBack });
      const ofChat = open.get(jid) ?? new Set();
      open.set(jid, ofChat.add(steps));
      return {
        addText: (delta) => steps.addText(delta),
        begin: (line) => steps.begin(line),
        beginQuestion: () => steps.beginQuestion(),
        close() {
          steps.close();
          ofChat.delete(steps);
          if (ofChat.size === 0 && open.get(jid) === ofChat) open.delete(jid);
        },
      };
    },
    quiet: (jid) => lanes.get(jid) ?? null,
    delivered(jid) {
      for (const steps of open.get(jid) ?? []) steps.wake();
    },
    sweep() {
      if (isStopped) return;
      for (const { jid, messageId } of store.drafts.left()) {
        void inLane(jid, () => sweepOne(jid, messageId));
      }
    },
    stop() {
      isStopped = true;
      for (const steps of [...open.values()].flatMap((each) => [...each])) steps.close();
    },
  };
}

type Lane = {
  readonly inLane: (jid: string, work: () => Promise<void>) => Promise<void>;
  readonly takeBack: (jid: string, messageId: string) => Promise<void>;
};

/** The steps in which one answer is shown. */
class Steps {
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

  /** What a step waited for may be over. */
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

async function within(work: Promise<void>, limitMs: number): Promise<void> {
  if ((await withTimeout(work, limitMs)) !== TIMED_OUT) return;
  throw new UnknownDelivery(`no answer within ${limitMs} ms`);
}

import type { Turn } from '../../../store/store.ts';
import { within } from './channel-timeout.ts';
import { type LiveAnswersOptions, Steps } from './steps.ts';

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

/** Shows answers in chats while they are written, and lines about the progress of a long turn. */
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

/** A draft that could not be taken away so often is left to the next process. */
const MAX_SWEEPS = 3;

/**
 * Opens the live answers.
 *
 * A draft is provisional: it is not in the outbox, may fail, and is never repeated. The answer itself is stored at
 * the end of its turn as always, and replaces the drafts (docs/decisions/drafts.md).
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
    if (isStopped || failures >= MAX_SWEEPS) return;
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

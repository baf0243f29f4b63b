import type { LateCount } from '../../store/store.ts';
import type { ClockPort, StorePort, TimerPort, TimeZonePort } from '../contracts/ports.ts';
import { openAlarm } from '../scheduler/alarm.ts';

const DAY_MS = 24 * 60 * 60_000;

export interface StrangerDigest {
  /** Plans the next digest, after a stranger may have been counted. */
  wake(): void;
  stop(): void;
}

export type StrangerDigestOptions = StorePort &
  ClockPort &
  TimerPort &
  TimeZonePort & {
    /** Puts a text into the outbox for the owner. */
    readonly queue: (text: string) => void;
    readonly onQueued: () => void;
  };

/**
 * Tells the owner once a day how many people wrote without being allowed to: a day after the first of
 * them, also when the assistant was down in between. What is counted is on disk, and so is the end of
 * the count, in one transaction with the notice.
 */
export function openStrangerDigest(options: StrangerDigestOptions): StrangerDigest {
  const { store, now, setTimer } = options;
  const alarm = openAlarm({ now, setTimer, onDue: wake, onClockMoved: () => {} });

  function wake(): void {
    const counted = store.strangers.counted();
    const dueAt = counted === null ? null : counted.since + DAY_MS;
    const isDue = dueAt !== null && dueAt <= now();
    alarm.set(isDue ? null : dueAt);
    if (counted === null || !isDue) return;
    store.transaction(() => {
      store.strangers.clear();
      options.queue(noticeOf(counted, options.timeZone));
    });
    options.onQueued();
  }

  return { wake, stop: () => alarm.set(null) };
}

function noticeOf(
  { senders, messages, since }: { senders: number; messages: number; since: number },
  timeZone: string,
): string {
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    dateStyle: 'medium',
    timeStyle: 'short',
  });
  const who = senders === 1 ? 'a person who is' : `${senders} people who are`;
  const times = messages === 1 ? 'once' : `${messages} times`;
  return `Since ${clock.format(since)} ${who} not registered wrote directly, ${times} in all, and got no answer. \`/groups\` lists the chats, \`/allow\` says who may write.`;
}

/** So long nothing more that is old must have come. */
const QUIET_MS = 10_000;
/** The most chats that are named. */
const NAMED = 8;

interface LateDigest {
  /** A message may have come too late to be answered: sees to it that the owner is told. */
  wake(): void;
  stop(): void;
}

type LateDigestOptions = StorePort &
  TimerPort & {
    /** Puts a text into the outbox for the owner. */
    readonly queue: (text: string) => void;
    readonly onQueued: () => void;
  };

/**
 * Tells the owner in one line which messages came while the assistant was away and are too old to be answered, once
 * all have arrived. The count is on disk, and ends in one transaction with the notice.
 */
export function openLateDigest({
  store,
  setTimer,
  queue,
  onQueued,
}: LateDigestOptions): LateDigest {
  let cancel: (() => void) | null = null;

  function tell(): void {
    cancel = null;
    const counted = store.lateMessages.counted();
    if (counted.length === 0) return;
    store.transaction(() => {
      store.lateMessages.clear();
      queue(lateNotice(counted));
    });
    onQueued();
  }

  function stop(): void {
    cancel?.();
    cancel = null;
  }

  return {
    wake() {
      stop();
      if (store.lateMessages.counted().length === 0) return;
      cancel = setTimer(QUIET_MS, tell);
    },
    stop,
  };
}

/** Such as “While I was away: 37 older messages in 2 chats were not answered: Family 20, Work 17.” */
export function lateNotice(counted: readonly LateCount[]): string {
  const sum = counted.reduce((total, { messages }) => total + messages, 0);
  const named = counted.slice(0, NAMED).map(({ name, messages }) => `${name} ${messages}`);
  const more = counted.length - named.length;
  const others = more > 0 ? ` and ${more} more` : '';
  const what = sum === 1 ? '1 older message' : `${sum} older messages`;
  const where = counted.length === 1 ? '1 chat' : `${counted.length} chats`;
  return `While I was away: ${what} in ${where} ${sum === 1 ? 'was' : 'were'} not answered: ${named.join(', ')}${others}.`;
}

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

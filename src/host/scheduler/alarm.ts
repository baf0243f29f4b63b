/** Calls back once after a delay, unless the returned function was called before. */
export type SetTimer = (delayMs: number, onElapsed: () => void) => () => void;

/** Node's own timer. */
export const realTimer: SetTimer = (delayMs, onElapsed) => {
  const timer = setTimeout(onElapsed, delayMs);
  return () => clearTimeout(timer);
};

export interface Alarm {
  /** Sets the moment that `onDue` is called at, instead of the one before; null for never. */
  set(moment: number | null): void;
}

export type AlarmOptions = {
  readonly now: () => number;
  readonly setTimer: SetTimer;
  readonly onDue: () => void;
  /** The clock is elsewhere than the time that was waited says: it was set, or the machine slept. */
  readonly onClockMoved: (movedMs: number) => void;
};

/**
 * The longest that is waited at once. Timers count the time that the machine is awake, and their
 * delay has to fit 31 bits: after a sleep or when the clock is set, a long one would end too late.
 */
const MAX_WAIT_MS = 60_000;
/** A busy machine wakes up late by less than this; more means that it slept or its clock was set. */
const MOVED_MS = 5_000;

/** Opens a timer towards one moment of the wall clock. While it waits, it looks at nothing but the clock. */
export function openAlarm({ now, setTimer, onDue, onClockMoved }: AlarmOptions): Alarm {
  let clear: (() => void) | null = null;

  function wait(moment: number): void {
    const from = now();
    const delayMs = Math.min(Math.max(moment - from, 0), MAX_WAIT_MS);
    clear = setTimer(delayMs, () => {
      clear = null;
      const movedMs = now() - from - delayMs;
      const isDue = now() >= moment;
      if (!isDue) wait(moment);
      if (Math.abs(movedMs) > MOVED_MS) onClockMoved(movedMs);
      if (isDue) onDue();
    });
  }

  return {
    set(moment) {
      clear?.();
      clear = null;
      if (moment !== null) wait(moment);
    },
  };
}

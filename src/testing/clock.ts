import type { SetTimer } from '../host/scheduler/alarm.ts';

type WaitingTimer = { readonly at: number; readonly onElapsed: () => void };

/** A clock that moves when the test says so: time can pass, and the wall clock can be moved alone. */
export class TestClock {
  /** The delays that timers were asked for, in order. */
  readonly delays: number[] = [];
  #wall: number;
  #awake = 0;
  #waiting: WaitingTimer[] = [];

  constructor(start: string) {
    this.#wall = Date.parse(start);
  }

  readonly now = (): number => this.#wall;

  readonly setTimer: SetTimer = (delayMs, onElapsed) => {
    if (delayMs > 2 ** 31 - 1) throw new Error(`no timer can wait for ${delayMs} ms`);
    this.delays.push(delayMs);
    const timer = { at: this.#awake + delayMs, onElapsed };
    this.#waiting.push(timer);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== timer);
    };
  };

  get timers(): number {
    return this.#waiting.length;
  }

  /** Lets time pass, and timers elapse in their order. */
  pass(durationMs: number): void {
    const end = this.#awake + durationMs;
    for (;;) {
      const [next] = this.#waiting.toSorted((one, other) => one.at - other.at);
      if (next === undefined || next.at > end) break;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#move(next.at - this.#awake);
      next.onElapsed();
    }
    this.#move(end - this.#awake);
  }

  passTo(moment: string): void {
    this.pass(Date.parse(moment) - this.#wall);
  }

  /** Moves the wall clock while no timer counts, as a machine that sleeps, or a person who sets it. */
  moveTo(moment: string): void {
    this.#wall = Date.parse(moment);
  }

  #move(durationMs: number): void {
    this.#wall += durationMs;
    this.#awake += durationMs;
  }
}

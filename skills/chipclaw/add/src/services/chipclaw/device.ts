import type { KnownDevice } from '../../lib/chipclaw-settings.ts';
import { type DeviceFrame, type DeviceTool, toolsIn } from './frames.ts';

/** A device says that it is there every 30 s, but not while its model thinks or a program of its own runs. */
const SILENT_MS = 300_000;
/** The shortest time between two questions which boards are there. */
const WHO_MS = 5_000;

/** Services of the host that a device is reached with. */
export type DeviceParts = {
  readonly send: (jid: string, body: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly setTimer: (delayMs: number, onElapsed: () => void) => () => void;
  readonly now: () => number;
  readonly newId: () => string;
  /** The time limit of a call. */
  readonly timeoutMs: number;
};

/** A device while it is connected. */
export type Present = {
  readonly link: string;
  readonly version: string;
  readonly free: number | null;
  readonly tools: readonly DeviceTool[];
};

type Underway = { readonly id: string; readonly end: (result: Result | Error) => void };
type Result = { readonly ok: boolean; readonly value: unknown };

/** A device of the owner's: what it offers while it is there, and its calls, one after the other. */
export class Device {
  readonly name: string;
  readonly jid: string;
  readonly #parts: DeviceParts;
  #present: Present | null = null;
  #heardAt = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #underway: Underway | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  constructor({ name, jid }: KnownDevice, parts: DeviceParts) {
    this.name = name;
    this.jid = jid;
    this.#parts = parts;
  }

  /** The device as it is now; null while it is not connected. */
  get present(): Present | null {
    if (this.#present !== null && this.#parts.now() - this.#heardAt > SILENT_MS)
      this.gone('is silent');
    return this.#present;
  }

  /** Takes what the device says. What it says about an earlier connection, or twice, changes nothing. */
  take(frame: DeviceFrame): void {
    if (frame.frame === 'hello') {
      this.#greet(frame);
      return;
    }
    if (frame.link !== this.#present?.link) {
      // It runs, and was never introduced: its hello came before us, or was lost.
      if (frame.frame !== 'bye') this.ask();
      return;
    }
    this.#heardAt = this.#parts.now();
    if (frame.frame === 'bye') this.gone('went off');
    if (frame.frame === 'result' && frame.id === this.#underway?.id) this.#underway.end(frame);
  }

  /** Asks whether it is there. Where it is not, nothing comes. */
  ask(): void {
    const now = this.#parts.now();
    if (now - this.#askedAt < WHO_MS) return;
    this.#askedAt = now;
    this.#parts.send(this.jid, { frame: 'who' }).catch(() => {});
  }

  /** It is not there any more. @param how words that follow its name */
  gone(how: string): void {
    this.#present = null;
    this.#askedAt = Number.NEGATIVE_INFINITY;
    this.#underway?.end(
      new Error(`${this.name} ${how} in the middle of the call. It may have run.`),
    );
  }

  /**
   * Calls a tool of the device, once the calls before it are over. Nothing is ever sent twice.
   *
   * @returns what the device answers
   * @throws Error in words: the device's own error, or why there is no answer
   */
  call(tool: string, args: object, signal: AbortSignal): Promise<unknown> {
    const answer = this.#queue.then(() => this.#callNow(tool, args, signal));
    this.#queue = answer.catch(() => {});
    return answer;
  }

  async #callNow(tool: string, args: object, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const link = this.present?.link;
    if (link === undefined) throw new Error(`${this.name} is not connected. /devices tells more.`);
    const { send, newId, timeoutMs } = this.#parts;
    const id = newId();
    const { promise, resolve } = Promise.withResolvers<Result | Error>();
    this.#underway = { id, end: resolve };
    const cancel = this.#parts.setTimer(timeoutMs, () => resolve(this.#late()));
    const abort = (): void => resolve(new Error('The call was given up. It may have run.'));
    signal.addEventListener('abort', abort, { once: true });
    try {
      send(this.jid, { frame: 'call', id, link, tool, args }).catch(resolve);
      const result = await promise;
      if (result instanceof Error) throw result;
      if (!result.ok) throw new Error(`${this.name}: ${textOf(result.value)}`);
      return result.value;
    } finally {
      this.#underway = null;
      cancel();
      signal.removeEventListener('abort', abort);
    }
  }

  #late(): Error {
    const seconds = this.#parts.timeoutMs / 1_000;
    return new Error(
      `${this.name} has not answered within ${seconds} s. It may run still; look before you call it again.`,
    );
  }

  #greet({ link, version, free = null, tools }: Extract<DeviceFrame, { frame: 'hello' }>): void {
    if (this.#present !== null && this.#present.link !== link) this.gone('started anew');
    this.#heardAt = this.#parts.now();
    this.#present = { link, version, free, tools: toolsIn(tools) };
  }
}

/** Writes a value of a device for an agent. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

import { z } from 'zod';
import { closingOf, type GatewayEnd } from './close-codes.ts';
import { type Frame, Hello, OP, Ready, readFrame } from './frame.ts';

/** Discord says hello, and that a session is ready, within a second or two; a line without that is dead. */
const HELLO_MS = 20_000;
const UNREADABLE: GatewayEnd = { kind: 'lost', cause: 'a message that cannot be read' };
/** A close code of our own that keeps the session, which 1000 would end. */
const KEEP_SESSION = 4_200;
const LEAVE = 1_000;

/** A session at the gateway: with it, a new line goes on where the old one ended. */
export type SavedSession = {
  readonly id: string;
  readonly resumeUrl: string;
  /** The number of the last event that is stored here. */
  readonly sequence: number;
};

/** An event of the gateway with its number, and the session that begins with it. */
export type Dispatch = {
  readonly type: string;
  readonly data: unknown;
  readonly sequence: number;
  readonly session: SavedSession | null;
};

export type LineOptions = {
  readonly url: string;
  readonly token: string;
  readonly intents: number;
  /** The session to go on with; null for a new one. */
  readonly resume: SavedSession | null;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  readonly onDispatch: (event: Dispatch) => void;
};

/** One line to the gateway. */
export type Line = {
  /** Resolves when the session is ready or resumed; null where the line ended before that. */
  readonly ready: Promise<'ready' | 'resumed' | null>;
  /** Resolves when the line is down, from either end. */
  readonly ended: Promise<GatewayEnd>;
  /** Ends the line; the session can be resumed, also by a later process. */
  readonly end: (end: GatewayEnd) => void;
};

/**
 * Opens one WebSocket to the gateway and keeps its heartbeat. Never throws: the reason why a line ended is in
 * `ended`.
 *
 * The library `@discordjs/ws` is not used here: it counts an event as received before it is stored, comes back every
 * half second without a longer pause, and opens a line again when it is left while it waits for the hello.
 */
export function openLine(options: LineOptions): Line {
  return new GatewayLine(options);
}

class GatewayLine implements Line {
  readonly #options: LineOptions;
  readonly #socket: WebSocket;
  readonly #ready = Promise.withResolvers<'ready' | 'resumed' | null>();
  readonly #ended = Promise.withResolvers<GatewayEnd>();
  readonly #late: NodeJS.Timeout;
  #heartbeat: NodeJS.Timeout | null = null;
  #isAnswered = true;
  #sequence: number | null;
  #isOver = false;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#sequence = options.resume?.sequence ?? null;
    this.#late = setTimeout(() => this.end({ kind: 'lost', cause: 'no answer' }), HELLO_MS);
    this.#socket = new WebSocket(addressOf(options.url));
    this.#socket.addEventListener('message', ({ data }) => this.#read(data));
    this.#socket.addEventListener('close', ({ code }) => this.#over(closingOf(code)));
    // `close` follows, and says all that is known.
    this.#socket.addEventListener('error', () => {});
  }

  get ready(): Promise<'ready' | 'resumed' | null> {
    return this.#ready.promise;
  }

  get ended(): Promise<GatewayEnd> {
    return this.#ended.promise;
  }

  end(end: GatewayEnd): void {
    if (this.#isOver) return;
    this.#socket.close(end.kind === 'invalid' ? LEAVE : KEEP_SESSION);
    // Whether the other end agrees is not waited for: it may be gone.
    this.#over(end);
  }

  #over(end: GatewayEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#late);
    if (this.#heartbeat !== null) clearTimeout(this.#heartbeat);
    this.#ready.resolve(null);
    this.#ended.resolve(end);
  }

  #read(data: unknown): void {
    if (this.#isOver) return;
    const frame = readFrame(data);
    try {
      if (frame === null) this.end(UNREADABLE);
      else this.#take(frame);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      this.end(UNREADABLE);
    }
  }

  #take({ op, d: data, s: sequence, t: type }: Frame): void {
    switch (op) {
      case OP.hello: {
        const { heartbeat_interval: everyMs } = Hello.parse(data);
        this.#beatEvery(everyMs);
        this.#begin();
        return;
      }
      case OP.heartbeat:
        this.#beat();
        return;
      case OP.heartbeatAck:
        this.#isAnswered = true;
        return;
      case OP.reconnect:
        this.end({ kind: 'moved' });
        return;
      case OP.invalidSession:
        // True says that the session is still there.
        this.end(data === true ? { kind: 'moved' } : { kind: 'invalid' });
        return;
      case OP.dispatch:
        this.#dispatch({ type: type ?? '', data, sequence: sequence ?? 0 });
        return;
    }
  }

  #dispatch(event: Omit<Dispatch, 'session'>): void {
    const { type, data, sequence } = event;
    this.#sequence = sequence;
    const session = type === 'READY' ? sessionIn(data, sequence) : null;
    this.#options.onDispatch({ ...event, session });
    if (type !== 'READY' && type !== 'RESUMED') return;
    clearTimeout(this.#late);
    this.#ready.resolve(type === 'READY' ? 'ready' : 'resumed');
  }

  #begin(): void {
    const { token, intents, resume } = this.#options;
    if (resume !== null) {
      this.#send(OP.resume, { token, session_id: resume.id, seq: resume.sequence });
      return;
    }
    const name = 'patchclaw';
    const properties = { os: process.platform, browser: name, device: name };
    this.#send(OP.identify, { token, intents, properties });
  }

  /** The first heartbeat comes at some moment of the interval, so that not all bots beat at the same time. */
  #beatEvery(everyMs: number): void {
    const beat = () => {
      if (!this.#isAnswered) return this.end({ kind: 'lost', cause: 'no heartbeat' });
      this.#isAnswered = false;
      this.#beat();
      this.#heartbeat = setTimeout(beat, everyMs);
    };
    this.#heartbeat = setTimeout(beat, everyMs * this.#options.random());
  }

  #beat(): void {
    this.#send(OP.heartbeat, this.#sequence);
  }

  #send(op: number, d: unknown): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ op, d }));
  }
}

function sessionIn(data: unknown, sequence: number): SavedSession {
  const { session_id: id, resume_gateway_url: resumeUrl } = Ready.parse(data);
  return { id, resumeUrl, sequence };
}

function addressOf(url: string): string {
  const address = new URL(url);
  address.search = '?v=10&encoding=json';
  return address.href;
}

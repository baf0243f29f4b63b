import {
  connectFar,
  type FarAddress,
  type FarConnection,
} from '../../../lib/far/far-connection.ts';
import { TokenBucket } from '../../../lib/token-bucket.ts';
import { costOf } from '../../far/resumable-link.ts';
import { type ChatSubject, chatOf, subjects } from './messages.ts';

/**
 * What a machine may send that brings nothing new, in bytes and with what each message costs: 64,000 small ones at once,
 * which is what 16 links repeat after their windows were lost, and 4,000 in a second. Nothing else is limited here:
 * links let each other send no more than a window ahead.
 */
const IDLE_TALK = { burst: 67_108_864, perSecond: 4_194_304 };
/** What a machine may repeat for each new byte: a link that loses four messages of five gets along with it. */
const AGAIN_PER_NEW = 4;
/** A machine says every three seconds that it is there. */
const PRESENCE = { burst: 5, perSecond: 1 };
/** A worker that still runs what is outdated hears of it once, and again where that was lost. */
const ENDS = { burst: 100, perSecond: 10 };

export type MachineLineParts = {
  readonly name: string;
  readonly address: FarAddress;
  readonly elapsed: () => number;
  /** A message about a container; true where it brought anything new, null where nobody listens to it any more. */
  readonly onChat: (subject: string, message: Buffer) => boolean | null;
  readonly onOutdated: (chat: ChatSubject, message: Buffer) => void;
  readonly onPresence: (kind: 'alive' | 'leaving', message: Buffer) => void;
  readonly onUp: () => void;
  /** Called once: it sends more than a worker has reason to. Nothing of it is heard any more. */
  readonly onFlood: () => void;
};

/**
 * What the home hears from one machine, over a connection of its own. The server keeps a queue for each connection, so
 * what one machine sends stands in no other machine's way, and ending the connection ends the flood: the server throws
 * away what nobody has subscribed to.
 */
export class MachineLine {
  readonly #parts: MachineLineParts;
  readonly #idleTalk: TokenBucket;
  readonly #presence: TokenBucket;
  readonly #ends: TokenBucket;
  #connection: FarConnection | null = null;
  readonly #closed = new AbortController();

  constructor(parts: MachineLineParts) {
    this.#parts = parts;
    const now = parts.elapsed;
    this.#idleTalk = new TokenBucket({ ...IDLE_TALK, now });
    this.#presence = new TokenBucket({ ...PRESENCE, now });
    this.#ends = new TokenBucket({ ...ENDS, now });
  }

  /** Waits for the server. @throws Error where it was closed meanwhile */
  async open(): Promise<void> {
    const { name, address, onUp } = this.#parts;
    const connection = await connectFar({
      ...address,
      waitsForServer: true,
      onUp,
      signal: this.#closed.signal,
    });
    if (this.isOver) return await connection.close();
    this.#connection = connection;
    connection.subscribe(subjects.up(name, '*', '*'), (subject, message) =>
      this.#acceptOfChat(subject, message),
    );
    for (const kind of ['alive', 'leaving'] as const) {
      connection.subscribe(subjects[kind](name), (_, message) => {
        this.#count(message, false);
        if (!this.isOver && this.#presence.take()) this.#parts.onPresence(kind, message);
      });
    }
    await connection.flush();
  }

  get isOver(): boolean {
    return this.#closed.signal.aborted;
  }

  publish(subject: string, message: Uint8Array | string): void {
    this.#connection?.publish(subject, message);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#connection?.close();
  }

  #acceptOfChat(subject: string, message: Buffer): void {
    if (this.isOver) return;
    const isNew = this.#parts.onChat(subject, message);
    this.#count(message, isNew === true);
    if (isNew !== null || this.isOver) return;
    const chat = chatOf(subject);
    if (chat !== null && this.#ends.take()) this.#parts.onOutdated(chat, message);
  }

  #count(message: Buffer, isNew: boolean): void {
    if (this.isOver) return;
    if (isNew) return void this.#idleTalk.earn(AGAIN_PER_NEW * message.length);
    if (this.#idleTalk.take(costOf(message))) return;
    void this.close();
    this.#parts.onFlood();
  }
}

/**
 * Byte streams between two machines that outlive the connection under them.
 *
 * A pipe promises nothing: a message may be lost, late or doubled, and for minutes none may pass. So each record gets
 * a number, the sender keeps it until the other side has acknowledged it, and sends it again where it was lost. The
 * streams above (an agent's frames, its model calls, its files) notice a pause and nothing else.
 *
 *     kind 1 | fence 6 | ack 6                        ACK, PROBE, REPLY
 *     kind 1 | fence 6 | ack 6 | seq 6 | channel 4 | operation 1 | bytes      RECORD
 *     kind 1 | fence 6 | reason in UTF-8              END
 *
 * `ack` is the last record that came in order. What comes out of order is dropped, and the answer (a REPLY) has the
 * other side send everything after `ack` again. A silent sender asks with a PROBE. A pipe keeps the order of what
 * passes, so the REPLY tells exactly what was lost before the PROBE.
 *
 * The other side may be hostile. What it sends over and over costs it, not this side: it is sent no more again than what
 * it acknowledges and this side asked for; records are acknowledged no faster than {@link RECORDS_PER_SECOND}, which
 * stops a sender that keeps to the window; one that does not is cut off. Each message says whether it brought anything
 * new, so that the owner of the pipe can count those that did not.
 *
 * `fence` is the number under which the home started this container: a higher one makes the link outdated, and what
 * carries another number is dropped before it is read.
 */
import { Duplex } from 'node:stream';
import { TokenBucket } from '../../lib/token-bucket.ts';

/** Carries messages, of which any may be lost, doubled or late. Those that arrive keep their order. */
export type MessagePipe = {
  send(message: Buffer): void;
  /** Calls the handler with each message; it returns whether that brought anything new. Returns what ends that. */
  listen(handler: (message: Buffer) => boolean): () => void;
};

export type ResumableLinkParts = {
  readonly pipe: MessagePipe;
  readonly fence: number;
  /** Tells the two ends apart: the channels of one have odd numbers. */
  readonly side: 'home' | 'worker';
  /** The other side opened a channel. */
  readonly onChannel: (channel: Duplex) => void;
  /** Called once. Null where this side closed the link. */
  readonly onEnd: (reason: string | null) => void;
  /** The longest silence of the other side. */
  readonly patienceMs: number;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
};

const Kind = { Ack: 1, Probe: 2, Reply: 3, Record: 4, End: 5 } as const;

const Operation = { Open: 1, Bytes: 2, Finish: 3, Reset: 4 } as const;

const HEAD_BYTES = 13;
const RECORD_HEAD_BYTES = 24;
/** Below the usual limit of a message broker, 1 MB. */
const MAX_RECORD_BYTES = 131_072;
/** The most that is under way in one direction. */
export const WINDOW_BYTES = 4_194_304;
/** The cost of a message beside its bytes. Without it, millions of small messages could be unacknowledged. */
export const MESSAGE_COST_BYTES = 1_024;
/** The number of bytes that all channels together may hold for slow readers. Beyond it, nothing is acknowledged. */
const CROWDED_BYTES = 2 * WINDOW_BYTES;
/** More than this without an acknowledgement, and the other side does not keep to the window. */
const MAX_UNACKNOWLEDGED_BYTES = 4 * WINDOW_BYTES;
/** So much is sent again for what was acknowledged meanwhile: a link that loses every second message gets along with 2. */
const AGAIN_PER_ACKNOWLEDGED = 4;
/** Records of a link that are acknowledged in a second, and at once after a pause. Files take a hundredth of that. */
const RECORDS_PER_SECOND = 5_000;
const MAX_RECORDS_AT_ONCE = 20_000;
const MAX_CHANNELS = 64;
const TICK_MS = 250;
/** A sender that hears no acknowledgement for so long asks. */
const PROBE_MS = 1_000;
/** An idle link is asked so often. */
const KEEPALIVE_MS = 10_000;
const ACK_EVERY = 16;
const ACK_DELAY_MS = 10;
/** One request to send again is under way at a time. */
const REPLY_PAUSE_MS = 200;

type Sent = { readonly seq: number; readonly message: Buffer };

/** One end of a link; both ends are the same, but for the numbers of their channels. */
export class ResumableLink {
  readonly #parts: ResumableLinkParts;
  readonly #elapsed: () => number;
  readonly #channels = new Map<number, Channel>();
  readonly #stopListening: () => void;
  readonly #tick: NodeJS.Timeout;
  #nextChannel: number;
  #nextSeq = 1;
  /** Sent and not yet acknowledged, in order. */
  #unacknowledged: Sent[] = [];
  #underWayBytes = 0;
  /** Writers that wait for the window. */
  #waiting: (() => void)[] = [];
  #received = 0;
  #acknowledged = 0;
  #ackTimer: NodeJS.Timeout | null = null;
  #lastHeardAt: number;
  #lastProgressAt: number;
  #lastProbeAt: number;
  #lastReply = { received: -1, at: 0 };
  /** What may be sent again. */
  #againBytes = WINDOW_BYTES;
  /** What came since the last acknowledgement. */
  #unacknowledgedBytes = 0;
  readonly #pace: TokenBucket;
  #isOver = false;

  constructor(parts: ResumableLinkParts) {
    this.#parts = parts;
    this.#elapsed = parts.elapsed;
    this.#nextChannel = parts.side === 'home' ? 1 : 2;
    this.#lastHeardAt = this.#elapsed();
    this.#lastProgressAt = this.#lastHeardAt;
    this.#lastProbeAt = this.#lastHeardAt;
    this.#pace = new TokenBucket({
      burst: MAX_RECORDS_AT_ONCE,
      perSecond: RECORDS_PER_SECOND,
      now: this.#elapsed,
    });
    this.#stopListening = parts.pipe.listen((message) => this.#accept(message));
    this.#tick = setInterval(() => this.tick(), TICK_MS).unref();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** How long the other side has been silent. */
  get silentMs(): number {
    return this.#elapsed() - this.#lastHeardAt;
  }

  /** Opens a stream to the other side, which gets its end by `onChannel`. */
  open(): Duplex {
    const id = this.#nextChannel;
    this.#nextChannel += 2;
    const channel = this.#channel(id);
    this.#send(id, Operation.Open, EMPTY);
    return channel;
  }

  /** The pipe works again, as its owner knows: asks at once for what was lost. */
  resume(): void {
    if (!this.#isOver) this.#probe();
  }

  /** Ends the link and tells the other side, which may not hear it. */
  close(reason = 'it was closed'): void {
    if (this.#isOver) return;
    this.#parts.pipe.send(endMessage(this.#parts.fence, reason));
    this.#end(null, reason);
  }

  /** Looks at what is late. Called by a timer of the link's own; tests call it with their clock. */
  tick(): void {
    if (this.#isOver) return;
    const now = this.#elapsed();
    const { patienceMs } = this.#parts;
    if (now - this.#lastHeardAt > patienceMs) {
      const reason = `nothing was heard for ${Math.round(patienceMs / 1000)} s`;
      return void this.#end(reason, reason);
    }
    const isLate = this.#unacknowledged.length > 0 && now - this.#lastProgressAt >= PROBE_MS;
    const isQuiet = now - this.#lastHeardAt >= KEEPALIVE_MS;
    if ((isLate || isQuiet) && now - this.#lastProbeAt >= PROBE_MS) this.#probe();
    this.#acknowledgeRead();
  }

  #probe(): void {
    this.#lastProbeAt = this.#elapsed();
    // The answer may ask for everything that is under way.
    this.#againBytes = Math.max(this.#againBytes, WINDOW_BYTES);
    this.#sendHead(Kind.Probe);
  }

  #channel(id: number): Channel {
    const channel = new Channel({
      write: (bytes, done) => this.#write(id, bytes, done),
      finish: () => this.#send(id, Operation.Finish, EMPTY),
      reset: () => this.#send(id, Operation.Reset, EMPTY),
      onRead: () => this.#acknowledgeRead(),
      onClose: () => void this.#channels.delete(id),
    });
    this.#channels.set(id, channel);
    return channel;
  }

  /** Sends the bytes as far as the window allows, and the rest once it does. */
  #write(id: number, bytes: Buffer, done: () => void): void {
    let rest = bytes;
    const more = (): void => {
      while (rest.length > 0) {
        if (this.#isOver) return void done();
        if (this.#underWayBytes >= WINDOW_BYTES) return void this.#waiting.push(more);
        this.#send(id, Operation.Bytes, rest.subarray(0, MAX_RECORD_BYTES));
        rest = rest.subarray(MAX_RECORD_BYTES);
      }
      done();
    };
    more();
  }

  #send(channel: number, operation: number, bytes: Buffer): void {
    if (this.#isOver) return;
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    const message = Buffer.alloc(RECORD_HEAD_BYTES + bytes.length);
    writeHead(message, Kind.Record, this.#parts.fence, this.#received);
    message.writeUIntBE(seq, 13, 6);
    message.writeUInt32BE(channel, 19);
    message[23] = operation;
    bytes.copy(message, RECORD_HEAD_BYTES);
    if (this.#unacknowledged.length === 0) this.#lastProgressAt = this.#elapsed();
    this.#unacknowledged.push({ seq, message });
    this.#underWayBytes += costOf(message);
    this.#parts.pipe.send(message);
  }

  #sendHead(kind: number): void {
    const message = Buffer.alloc(HEAD_BYTES);
    // A reader that does not keep up is not acknowledged, which stops the other side.
    if (!this.#isCrowded()) {
      this.#acknowledged = this.#received;
      this.#unacknowledgedBytes = 0;
    }
    writeHead(message, kind, this.#parts.fence, this.#acknowledged);
    this.#parts.pipe.send(message);
  }

  /** Returns whether the message brought anything new. */
  #accept(message: Buffer): boolean {
    const head = readHead(message);
    if (this.#isOver || head === null || head.fence !== this.#parts.fence) return false;
    this.#lastHeardAt = this.#elapsed();
    if (head.kind === Kind.End) {
      const reason = message.toString('utf8', 7, 500);
      this.#end(reason, reason);
      return true;
    }
    if (message.length < HEAD_BYTES) return false;
    if (head.ack >= this.#nextSeq) {
      this.#refuse('it acknowledged what was never sent');
      return false;
    }
    const hasFreed = this.#forget(head.ack);
    if (head.kind === Kind.Probe) this.#sendHead(Kind.Reply);
    if (head.kind === Kind.Reply) this.#sendAgain();
    return (head.kind === Kind.Record && this.#acceptRecord(message)) || hasFreed;
  }

  #acceptRecord(message: Buffer): boolean {
    if (message.length < RECORD_HEAD_BYTES) return false;
    const seq = message.readUIntBE(13, 6);
    if (seq !== this.#received + 1) {
      this.#outOfOrder(seq);
      return false;
    }
    this.#received = seq;
    this.#unacknowledgedBytes += costOf(message);
    this.#pace.spend(1);
    if (this.#unacknowledgedBytes > MAX_UNACKNOWLEDGED_BYTES) {
      this.#refuse('it sent more than it may');
      return false;
    }
    const bytes = message.subarray(RECORD_HEAD_BYTES);
    const isHeard = this.#deliver(message.readUInt32BE(19), message[23] ?? 0, bytes);
    if (this.#isOver) return isHeard;
    if (this.#received - this.#acknowledged >= ACK_EVERY) this.#acknowledgeRead();
    else this.#ackTimer ??= setTimeout(() => this.#acknowledgeLate(), ACK_DELAY_MS).unref();
    return isHeard;
  }

  #outOfOrder(seq: number): void {
    const now = this.#elapsed();
    const { received, at } = this.#lastReply;
    const isAsked = received === this.#received && now - at < REPLY_PAUSE_MS;
    if (seq > this.#received && isAsked) return;
    this.#lastReply = { received: this.#received, at: now };
    // A gap has it sent again; a record that came twice only needs to be acknowledged.
    this.#sendHead(seq > this.#received ? Kind.Reply : Kind.Ack);
  }

  /** Returns whether somebody gets bytes by it. */
  #deliver(id: number, operation: number, bytes: Buffer): boolean {
    const known = this.#channels.get(id);
    if (operation === Operation.Open) {
      const isOthers = id % 2 === (this.#parts.side === 'home' ? 0 : 1);
      if (!isOthers || known !== undefined || this.#channels.size >= MAX_CHANNELS) {
        this.#refuse('it opened channels as it may not');
      } else this.#parts.onChannel(this.#channel(id));
      return false;
    }
    // It was closed here, which the other side did not know yet.
    if (known === undefined) return false;
    if (operation === Operation.Bytes) known.receive(bytes);
    else if (operation === Operation.Finish) known.receive(null);
    else known.resetByOther();
    return operation === Operation.Bytes && bytes.length > 0;
  }

  /** The other side does not keep to the protocol. */
  #refuse(reason: string): void {
    this.#parts.pipe.send(endMessage(this.#parts.fence, reason));
    this.#end(reason, reason);
  }

  /** Returns whether anything was acknowledged by it. */
  #forget(ack: number): boolean {
    const count = this.#unacknowledged.findIndex(({ seq }) => seq > ack);
    const gone = this.#unacknowledged.splice(0, count === -1 ? this.#unacknowledged.length : count);
    if (gone.length === 0) return false;
    this.#lastProgressAt = this.#elapsed();
    let freedBytes = 0;
    for (const { message } of gone) freedBytes += costOf(message);
    this.#underWayBytes -= freedBytes;
    this.#againBytes = Math.min(
      this.#againBytes + AGAIN_PER_ACKNOWLEDGED * freedBytes,
      2 * WINDOW_BYTES,
    );
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const more of waiting) more();
    return true;
  }

  /**
   * Sends again what was lost, as far as the other side has earned it: a request of 13 bytes must not cost a window each
   * time. A link that loses much sends less at a time, and each question of this side's own may be answered in full.
   */
  #sendAgain(): void {
    for (const { message } of this.#unacknowledged) {
      if (this.#againBytes <= 0) return;
      this.#againBytes -= costOf(message);
      this.#parts.pipe.send(message);
    }
  }

  #acknowledgeLate(): void {
    this.#ackTimer = null;
    if (!this.#isOver && this.#received > this.#acknowledged) this.#sendHead(Kind.Ack);
  }

  /** A reader has caught up: the other side may go on. */
  #acknowledgeRead(): void {
    if (!this.#isOver && this.#received - this.#acknowledged >= ACK_EVERY && !this.#isCrowded()) {
      this.#sendHead(Kind.Ack);
    }
  }

  /** Readers do not keep up, or more records come than anybody needs. */
  #isCrowded(): boolean {
    if (this.#pace.isEmpty) return true;
    let unreadBytes = 0;
    for (const { readableLength } of this.#channels.values()) unreadBytes += readableLength;
    return unreadBytes > CROWDED_BYTES;
  }

  #end(reason: string | null, forChannels: string): void {
    this.#isOver = true;
    clearInterval(this.#tick);
    if (this.#ackTimer !== null) clearTimeout(this.#ackTimer);
    this.#stopListening();
    this.#unacknowledged = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const more of waiting) more();
    for (const channel of [...this.#channels.values()]) channel.lose(forChannels);
    this.#parts.onEnd(reason);
  }
}

type ChannelParts = {
  readonly write: (bytes: Buffer, done: () => void) => void;
  readonly finish: () => void;
  readonly reset: () => void;
  readonly onRead: () => void;
  readonly onClose: () => void;
};

class Channel extends Duplex {
  readonly #parts: ChannelParts;
  /** The other side reset it, or the link is over: it is not told. */
  #isTold = false;

  constructor(parts: ChannelParts) {
    super({ allowHalfOpen: true });
    this.#parts = parts;
    this.on('error', () => {});
  }

  receive(bytes: Buffer | null): void {
    if (!this.destroyed) this.push(bytes);
  }

  resetByOther(): void {
    this.#isTold = true;
    this.destroy();
  }

  lose(reason: string): void {
    this.#isTold = true;
    this.destroy(new Error(`The link is over: ${reason}.`));
  }

  override _read(): void {
    this.#parts.onRead();
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: () => void): void {
    this.#parts.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.#parts.finish();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isTold && !(this.readableEnded && this.writableFinished)) this.#parts.reset();
    this.#parts.onClose();
    done(error);
  }
}

const EMPTY = Buffer.alloc(0);

/** What a message counts for, in bytes. */
export function costOf(message: Buffer): number {
  return message.length + MESSAGE_COST_BYTES;
}

/** The numbers before a message's own bytes. */
export type MessageHead = { readonly kind: number; readonly fence: number; readonly ack: number };

/** Reads the head of a message; null for what is none. */
export function readHead(message: Buffer): MessageHead | null {
  if (message.length < 7) return null;
  const ack = message.length < HEAD_BYTES ? 0 : message.readUIntBE(7, 6);
  return { kind: message[0] ?? 0, fence: message.readUIntBE(1, 6), ack };
}

/** Whether a message is the first record of its link, which begins a container. */
export function isFirstRecord(message: Buffer): boolean {
  return (
    message.length >= RECORD_HEAD_BYTES &&
    message[0] === Kind.Record &&
    message.readUIntBE(13, 6) === 1
  );
}

/** Returns the message that ends the link of this number on the other side. */
export function endMessage(fence: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const message = Buffer.alloc(7 + text.length);
  message[0] = Kind.End;
  message.writeUIntBE(fence, 1, 6);
  text.copy(message, 7);
  return message;
}

/** Whether a message ends a link: it is not answered. */
export function isEndMessage(message: Buffer): boolean {
  return message[0] === Kind.End;
}

function writeHead(message: Buffer, kind: number, fence: number, ack: number): void {
  message[0] = kind;
  message.writeUIntBE(fence, 1, 6);
  message.writeUIntBE(ack, 7, 6);
}

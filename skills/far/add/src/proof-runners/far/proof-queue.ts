import {
  AckPolicy,
  type Consumer,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';

const STREAM = 'PROOFS';
const RESULTS = 'PROOF_RESULTS';
const NS_PER_MS = 1_000_000;
const DAY_MS = 86_400_000;
/** A job whose holder says nothing for so long is delivered again. */
const ACK_WAIT_MS = 30_000;
const RESULT_DAYS = 30;
const RESULTS_BYTES = 256 * 1024 ** 2;
const QUEUE_BYTES = 64 * 1024 ** 2;
const PULL_MS = 1_000;

/**
 * The work queue and the results of proofs, in the JetStream of the server. The home alone has rights in it: a server
 * sends what a client asks of JetStream to any subject that the client names, also to one on which it may not publish.
 */
export class ProofQueue {
  readonly #run: string;
  readonly #nats: NatsConnection;
  readonly #consumer: Consumer;
  readonly #results: KV;
  #asked = 0;

  private constructor(run: string, nats: NatsConnection, consumer: Consumer, results: KV) {
    this.#run = run;
    this.#nats = nats;
    this.#consumer = consumer;
    this.#results = results;
  }

  static async open(nats: NatsConnection, run: string): Promise<ProofQueue> {
    const manager = await jetstreamManager(nats);
    await manager.streams.add({
      name: STREAM,
      subjects: ['far.proof.job.*'],
      retention: RetentionPolicy.Workqueue,
      max_age: DAY_MS * NS_PER_MS,
      max_bytes: QUEUE_BYTES,
    });
    await manager.consumers.add(STREAM, {
      durable_name: run,
      filter_subject: subjectOf(run),
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_WAIT_MS * NS_PER_MS,
      inactive_threshold: 60_000 * NS_PER_MS,
    });
    const results = await new Kvm(nats).create(RESULTS, {
      ttl: RESULT_DAYS * DAY_MS,
      max_bytes: RESULTS_BYTES,
    });
    const consumer = await jetstream(nats).consumers.get(STREAM, run);
    return new ProofQueue(run, nats, consumer, results);
  }

  /** Puts a job into the queue, once more where it is asked for again. */
  async add(digest: string): Promise<void> {
    this.#asked += 1;
    const msgID = `${this.#run} ${this.#asked}`;
    await jetstream(this.#nats).publish(subjectOf(this.#run), digest, { msgID });
  }

  /** Takes the next job; null where none comes for a while. It is delivered again unless it is acknowledged. */
  async take(): Promise<QueuedJob | null> {
    const message = await this.#consumer.next({ expires: PULL_MS });
    return message === null ? null : new QueuedJob(message);
  }

  /** Counts the jobs that wait, or are taken and not acknowledged. */
  async count(): Promise<number> {
    const { num_pending, num_ack_pending } = await this.#consumer.info();
    return num_pending + num_ack_pending;
  }

  async result(key: string): Promise<Uint8Array | null> {
    const entry = await this.#results.get(keyOf(key));
    return entry === null || entry.operation !== 'PUT' ? null : entry.value;
  }

  async keep(key: string, value: unknown): Promise<void> {
    await this.#results.put(keyOf(key), JSON.stringify(value));
  }

  async drop(key: string): Promise<void> {
    await this.#results.delete(keyOf(key));
  }

  /** Lists the keys that begin so. */
  async keys(beginning: string): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const key of await this.#results.keys(`${beginning}.*`)) found.push(key);
    return found;
  }

  /** Removes what is left of this run's jobs. Results stay. */
  async close(): Promise<void> {
    const manager = await jetstreamManager(this.#nats);
    await manager.consumers.delete(STREAM, this.#run);
    await manager.streams.purge(STREAM, { filter: subjectOf(this.#run) });
  }
}

/** A job that was taken from the queue. */
export class QueuedJob {
  readonly #message: JsMsg;
  readonly digest: string;

  constructor(message: JsMsg) {
    this.#message = message;
    this.digest = message.string();
  }

  /** It is done, or somebody else does it. */
  done(): void {
    this.#message.ack();
  }

  /** Somebody works on it. */
  working(): void {
    this.#message.working();
  }

  /** Somebody else shall have it, after so long. */
  giveBack(delayMs: number): void {
    this.#message.nak(delayMs);
  }
}

function subjectOf(run: string): string {
  return `far.proof.job.${run}`;
}

/** A colon may not be part of a key. */
function keyOf(key: string): string {
  return key.replace('sha256:', '');
}

/**
 * What the home asks a worker about one container, in a channel of its link: the home asks, the worker answers, and
 * beside answers it only tells that the container has ended.
 *
 *     length of the head 4 | length of the body 4 | head in JSON | body
 *
 *     home → hello                          worker → { kept }      the files of an earlier container, if there are any
 *     home → begin { mounts, limits, timeZone }
 *                                           worker → { kept }      as above: nothing was begun
 *                                                or { lacks }      the digests that it has no bytes for
 *                                                or { id, absent } it runs
 *     home → bytes { digest }, body         worker → {}
 *     home → run                            worker → { id, absent } without the files that it got no bytes for
 *     home → look { waits }                 worker → { changes, contents }, body
 *                                                                  what is different there since the last answer
 *     home → read { digest }                worker → { isThere }, body
 *     home → change { mount, changes }      worker → { done }      of each change whether it was made
 *     home → stop                           worker → {}            the container is gone, its files are still there
 *     home → forget { keeps }               worker → { left, in }  now they are not, but for those that cannot be sent;
 *                                                                  where it keeps, all of them are in that place
 *                                           worker → ended { reason }
 *
 * A `look` that waits is asked before it is needed, and answered once the agent hands over: ends its turn, or calls a
 * tool of the home. The answer goes ahead of the agent's own words, so it costs no round trip.
 *
 * A worker never asks: it can write nothing at home that the home did not ask for, compare and merge.
 */
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { type JsonBounds, readJson } from '../../lib/bounded-json.ts';
import { Digest, MAX_FILE_BYTES, NewTree, TreeEntry, TreeList, TreePath } from './file-tree.ts';

const MAX_HEAD_BYTES = 33_554_432;
const HEAD_BOUNDS: JsonBounds = { maxBytes: MAX_HEAD_BYTES, maxValues: 1_000_000, maxDepth: 12 };
const MAX_MOUNTS = 200;
export const MAX_CHANGES = 200;
/** Contents up to this go with the answer that names them. */
export const MAX_SHOWN_BYTES = 1_048_576;
const MAX_SHOWN = 1_000;
const MAX_TOLD_PATHS = 1_000;

const Change = z.strictObject({
  path: TreePath,
  expected: TreeEntry.nullable(),
  wanted: TreeEntry.nullable(),
});

export const ControlRequest = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('hello') }),
  z.strictObject({
    op: z.literal('begin'),
    mounts: z
      .array(z.strictObject({ target: z.string(), isWritable: z.boolean(), files: NewTree }))
      .max(MAX_MOUNTS),
    limits: z.strictObject({
      memoryBytes: z.number().positive(),
      processes: z.number().int().positive(),
      cpus: z.number().positive(),
    }),
    timeZone: z.string().max(64).nullable(),
  }),
  z.strictObject({ op: z.literal('bytes'), digest: Digest }),
  z.strictObject({ op: z.literal('run') }),
  z.strictObject({ op: z.literal('look'), waits: z.boolean() }),
  z.strictObject({ op: z.literal('read'), digest: Digest }),
  z.strictObject({
    op: z.literal('change'),
    mount: z.number().int().nonnegative(),
    changes: z.array(Change).max(MAX_CHANGES),
  }),
  z.strictObject({ op: z.literal('stop') }),
  z.strictObject({ op: z.literal('forget'), keeps: z.boolean().optional() }),
]);
export type ControlRequest = z.output<typeof ControlRequest>;

/** The writable mounts of a container that ended, with their files as they are now. */
const KeptMount = z.strictObject({ target: z.string().max(500), files: TreeList });

const Kept = z.strictObject({ kept: z.array(KeptMount).max(MAX_MOUNTS) });
const Place = z.tuple([z.number().int().nonnegative(), TreePath]);
const Runs = z.strictObject({ id: z.string().max(200), absent: z.array(Place).max(100_000) });

const ANSWERS = {
  hello: z.union([Kept, z.strictObject({ kept: z.null() })]),
  begin: z.union([Kept, z.strictObject({ lacks: z.array(Digest).max(1_000_000) }), Runs]),
  bytes: z.strictObject({}),
  run: Runs,
  look: z.strictObject({
    /** By the number of the mount and the path; null for what is gone. */
    changes: z
      .array(z.tuple([z.number().int().nonnegative(), TreePath, TreeEntry.nullable()]))
      .max(200_000),
    contents: z.array(z.int().nonnegative().max(MAX_SHOWN_BYTES)).max(MAX_SHOWN),
  }),
  read: z.strictObject({ isThere: z.boolean() }),
  change: z.strictObject({ done: z.array(z.boolean()).max(MAX_CHANGES) }),
  stop: z.strictObject({}),
  forget: z.strictObject({
    left: z.array(z.string().max(1_100)).max(MAX_TOLD_PATHS),
    in: z.string().max(1_000),
  }),
};
export type ControlAnswers = { [Op in keyof typeof ANSWERS]: z.output<(typeof ANSWERS)[Op]> };

const Numbered = z.looseObject({ id: z.number().int().nonnegative() });
const Answer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('answer'), id: z.number().int(), value: z.unknown() }),
  z.strictObject({
    kind: z.literal('failed'),
    id: z.number().int(),
    reason: z.string().max(2_000),
  }),
  z.strictObject({ kind: z.literal('ended'), id: z.literal(0), reason: z.string().max(500) }),
]);

/** Why the other side could not do what was asked, in its own words. */
export class ControlFailed extends Error {
  override readonly name = 'ControlFailed';
}

/** The home's end. */
export class ControlClient {
  readonly #stream: Duplex;
  readonly #open = new Map<number, PromiseWithResolvers<{ value: unknown; body: Buffer }>>();
  #nextId = 1;

  constructor(stream: Duplex, onEnded: (reason: string) => void) {
    this.#stream = stream;
    readMessages(stream, (head, body) => {
      const answer = Answer.parse(head);
      if (answer.kind === 'ended') return onEnded(answer.reason);
      const asked = this.#open.get(answer.id);
      if (asked === undefined) throw new ControlFailed('it answered what nobody had asked');
      this.#open.delete(answer.id);
      if (answer.kind === 'failed') asked.reject(new ControlFailed(answer.reason));
      else asked.resolve({ value: answer.value, body });
    });
    stream.once('close', () => {
      const error = new ControlFailed(
        stream.errored?.message ?? 'The link to the other machine is over.',
      );
      for (const asked of this.#open.values()) asked.reject(error);
      this.#open.clear();
    });
  }

  /** @throws ControlFailed where it could not be done, or the link is over */
  async ask<Op extends keyof ControlAnswers>(
    request: Extract<ControlRequest, { op: Op }>,
    body: Buffer = EMPTY,
  ): Promise<ControlAnswers[Op] & { readonly body: Buffer }> {
    if (this.#stream.destroyed) throw new ControlFailed('The link to the other machine is over.');
    const id = this.#nextId;
    this.#nextId += 1;
    const asked = Promise.withResolvers<{ value: unknown; body: Buffer }>();
    this.#open.set(id, asked);
    send(this.#stream, { ...request, id }, body);
    const answer = await asked.promise;
    const value = ANSWERS[request.op].parse(answer.value) as ControlAnswers[Op];
    return { ...value, body: answer.body };
  }
}

/** An answer of the worker's end; `sent` is told when nothing that is sent afterwards can overtake it. */
export type ControlReply = {
  readonly value: object;
  readonly body?: Buffer;
  readonly sent?: () => void;
};

/**
 * Serves the worker's end. The handler is called with one request after the other and may answer later, in any order.
 * Returns what tells the home that the container has ended.
 */
export function serveControl(
  stream: Duplex,
  handle: (request: ControlRequest, body: Buffer) => Promise<ControlReply>,
): (reason: string) => void {
  const answer = async (id: number, rest: unknown, body: Buffer): Promise<void> => {
    try {
      const done = await handle(ControlRequest.parse(rest), body);
      send(stream, { kind: 'answer', id, value: done.value }, done.body);
      done.sent?.();
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)).slice(0, 2_000);
      send(stream, { kind: 'failed', id, reason });
    }
  };
  readMessages(stream, (head, body) => {
    const { id, ...rest } = Numbered.parse(head);
    void answer(id, rest, body);
  });
  return (reason) => send(stream, { kind: 'ended', id: 0, reason: reason.slice(0, 500) });
}

const EMPTY = Buffer.alloc(0);

function send(stream: Duplex, head: object, body: Buffer = EMPTY): void {
  if (stream.destroyed) return;
  const text = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(text.length, 0);
  lengths.writeUInt32BE(body.length, 4);
  stream.write(Buffer.concat([lengths, text, body]));
}

/** Reads messages, each after the one before is handled. What is not in the protocol ends the stream. */
function readMessages(
  stream: Duplex,
  onMessage: (head: unknown, body: Buffer) => void | Promise<void>,
): void {
  void (async () => {
    let pending: Buffer[] = [];
    let pendingBytes = 0;
    const take = (count: number): Buffer => {
      const all = pending.length === 1 ? (pending[0] ?? EMPTY) : Buffer.concat(pending);
      pending = [all.subarray(count)];
      pendingBytes = all.length - count;
      return all.subarray(0, count);
    };
    let lengths: { head: number; body: number } | null = null;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      pending.push(chunk);
      pendingBytes += chunk.length;
      for (;;) {
        if (lengths === null) {
          if (pendingBytes < 8) break;
          const bytes = take(8);
          lengths = { head: bytes.readUInt32BE(0), body: bytes.readUInt32BE(4) };
          if (lengths.head > MAX_HEAD_BYTES || lengths.body > MAX_FILE_BYTES) {
            throw new Error('a message of the other machine is too long');
          }
        }
        if (pendingBytes < lengths.head + lengths.body) break;
        const read = await readJson(Buffer.from(take(lengths.head)), HEAD_BOUNDS);
        const body = Buffer.from(take(lengths.body));
        lengths = null;
        if (read.kind === 'refused') throw new Error(read.problem);
        await onMessage(read.value, body);
      }
    }
  })().catch((error: unknown) => {
    stream.destroy(error instanceof Error ? error : new Error(String(error)));
  });
}

/**
 * What the home asks a worker about one container, in a channel of its link: the home asks, the worker answers, and
 * beside answers it only tells that the container has ended.
 *
 *     length of the head 4 | length of the body 4 | head in JSON | body
 *
 *     home → hello                          worker → { kept }      the files of an earlier container, if there are any
 *     home → lay { mounts }                 worker → { lacks }     the digests that it has no bytes for
 *     home → bytes { digest }, body         worker → {}
 *     home → run { limits, timeZone }       worker → { id }
 *     home → scan { targets }               worker → { mounts }    the files of these mounts
 *     home → read { digest }                worker → { isThere }, body
 *     home → change { mount, changes }      worker → { done }      of each change whether it was made
 *     home → stop                           worker → {}            the container is gone, its files are still there
 *     home → forget                         worker → {}            and now they are not
 *                                           worker → ended { reason }
 *
 * A worker never asks: it can write nothing at home that the home did not fetch, compare and merge.
 */
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { type JsonBounds, readJson } from '../../lib/bounded-json.ts';
import { Digest, MAX_FILE_BYTES, TreeEntry, TreeList, TreePath } from './file-tree.ts';

const MAX_HEAD_BYTES = 33_554_432;
const HEAD_BOUNDS: JsonBounds = { maxBytes: MAX_HEAD_BYTES, maxValues: 1_000_000, maxDepth: 12 };
const MAX_MOUNTS = 200;
export const MAX_CHANGES = 200;

const Change = z.strictObject({
  path: TreePath,
  expected: TreeEntry.nullable(),
  wanted: TreeEntry.nullable(),
});

export const ControlRequest = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('hello') }),
  z.strictObject({
    op: z.literal('lay'),
    mounts: z
      .array(z.strictObject({ target: z.string(), isWritable: z.boolean(), files: TreeList }))
      .max(MAX_MOUNTS),
  }),
  z.strictObject({ op: z.literal('bytes'), digest: Digest }),
  z.strictObject({
    op: z.literal('run'),
    limits: z.strictObject({
      memoryBytes: z.number().positive(),
      processes: z.number().int().positive(),
      cpus: z.number().positive(),
    }),
    timeZone: z.string().max(64).nullable(),
  }),
  z.strictObject({ op: z.literal('scan'), targets: z.array(z.string()).max(MAX_MOUNTS) }),
  z.strictObject({ op: z.literal('read'), digest: Digest }),
  z.strictObject({
    op: z.literal('change'),
    mount: z.number().int().nonnegative(),
    changes: z.array(Change).max(MAX_CHANGES),
  }),
  z.strictObject({ op: z.literal('stop') }),
  z.strictObject({ op: z.literal('forget') }),
]);
export type ControlRequest = z.output<typeof ControlRequest>;

/** The writable mounts of a container that ended, with their files as they are now. */
const KeptMount = z.strictObject({ target: z.string().max(500), files: TreeList });

const ANSWERS = {
  hello: z.strictObject({ kept: z.array(KeptMount).max(MAX_MOUNTS).nullable() }),
  lay: z.strictObject({ lacks: z.array(Digest).max(1_000_000) }),
  bytes: z.strictObject({}),
  run: z.strictObject({ id: z.string().max(200) }),
  scan: z.strictObject({
    mounts: z.array(z.strictObject({ files: TreeList.nullable() })).max(MAX_MOUNTS),
  }),
  read: z.strictObject({ isThere: z.boolean() }),
  change: z.strictObject({ done: z.array(z.boolean()).max(MAX_CHANGES) }),
  stop: z.strictObject({}),
  forget: z.strictObject({}),
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
      this.#open.delete(answer.id);
      if (answer.kind === 'failed') asked?.reject(new ControlFailed(answer.reason));
      else asked?.resolve({ value: answer.value, body });
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

/** Serves the worker's end: one request after the other. Returns what tells the home that the container has ended. */
export function serveControl(
  stream: Duplex,
  handle: (
    request: ControlRequest,
    body: Buffer,
  ) => Promise<{ readonly value: object; readonly body?: Buffer }>,
): (reason: string) => void {
  readMessages(stream, async (head, body) => {
    const { id, ...rest } = Numbered.parse(head);
    try {
      const done = await handle(ControlRequest.parse(rest), body);
      send(stream, { kind: 'answer', id, value: done.value }, done.body);
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)).slice(0, 2_000);
      send(stream, { kind: 'failed', id, reason });
    }
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

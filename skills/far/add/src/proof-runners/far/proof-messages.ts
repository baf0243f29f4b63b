import type { JobVerdict } from '@patchclaw/claw';
import { z } from 'zod';
import { jsonWithin } from '../../lib/bounded-json.ts';

// Both ends say again and again what is: a message may be lost, and nothing depends on a single one. The home says which
// jobs a machine has; the machine says what it runs, asks for contents, and repeats a result until the home drops the job.

/** Both sides say so often what is. */
export const BEAT_MS = 1_000;
/** Whoever has said nothing for so long is away. */
export const AWAY_MS = 15_000;
/** Bytes of a content in one message. */
export const PART_BYTES = 512 * 1024;
/** Contents that are asked for at once. */
export const MOST_ASKED = 128;
/** Of what a failed command printed, so much goes home. */
const OUTPUT_CHARS = 100_000;

const Id = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const Text = z.string().max(OUTPUT_CHARS);

const Verdict = z.object({
  failures: z
    .array(
      z.object({
        kind: z.enum(['check', 'test', 'own', 'npm']),
        name: z.string().max(10_000),
        text: Text,
        output: Text,
      }),
    )
    .max(100),
  warnings: z.array(z.string().max(10_000)).max(100),
  ms: z.number().min(0),
});

const Offers = z.object({
  run: Id,
  /** Everything that the machine has to do for this run; what is not here it ends. */
  jobs: z.array(z.object({ ticket: Id, digest: Digest })).max(1_000),
});

const Here = z.object({
  /** Another worker than before has another. */
  boot: Id,
  platform: z.string().max(200),
  slots: z.number().int().min(1).max(1_000),
  /** Of all runs. */
  running: z.array(Id).max(1_000),
});

const Need = z.object({ ticket: Id, digests: z.array(Digest).max(MOST_ASKED) });

const Said = z.object({
  ticket: Id,
  /** Null where the machine could not run it, for this reason. */
  verdict: Verdict.nullable(),
  reason: z.string().max(1_000),
});

export type Offers = z.output<typeof Offers>;
export type Here = z.output<typeof Here>;
export type Need = z.output<typeof Need>;
export type Said = z.output<typeof Said>;

/** A result as it is kept, and who said so. */
const KnownResult = z.object({
  by: z.string().max(64),
  verdict: Verdict,
  /** The run that it is from has ended: each machine had second opinions. */
  isVouched: z.boolean(),
});

export type KnownResult = z.output<typeof KnownResult>;

/** Reads what came; null for what is none of these. */
export const read = {
  offers: (message: Uint8Array): Offers | null =>
    Offers.safeParse(jsonWithin(message)).data ?? null,
  here: (message: Uint8Array): Here | null => Here.safeParse(jsonWithin(message)).data ?? null,
  need: (message: Uint8Array): Need | null => Need.safeParse(jsonWithin(message)).data ?? null,
  said: (message: Uint8Array): Said | null => Said.safeParse(jsonWithin(message)).data ?? null,
  known: (message: Uint8Array): KnownResult | null =>
    KnownResult.safeParse(jsonWithin(message)).data ?? null,
};

/** Returns a verdict that fits into one message: of long outputs the end. */
export function shortened({ failures, warnings, ms }: JobVerdict): JobVerdict {
  const most = Math.floor(OUTPUT_CHARS / Math.max(1, failures.length) / 2);
  return {
    failures: failures.map(({ kind, name, text, output }) => ({
      ...{ kind, name: name.slice(0, 10_000) },
      text: text.slice(-most),
      output: output.slice(-most),
    })),
    warnings: warnings.slice(0, 100).map((one) => one.slice(0, 10_000)),
    ms,
  };
}

/** Names in subjects. A machine can send below `far.up.<machine>` and hear below `far.down.<machine>`, and no more. */
export const proofSubjects = {
  up: (machine: string, kind: 'here' | 'need' | 'said') => `far.up.${machine}.proof.${kind}`,
  down: (machine: string, kind: 'jobs' | 'part') => `far.down.${machine}.proof.${kind}`,
  allUp: 'far.up.*.proof.*',
  allDown: (machine: string) => `far.down.${machine}.proof.*`,
};

const HEAD_BYTES = 40;

/** A piece of a content: its digest, where the piece begins, and the length of the whole. */
export const contentPart = {
  *write(digest: string, content: Buffer): Generator<Buffer> {
    for (let from = 0; from === 0 || from < content.length; from += PART_BYTES) {
      const head = Buffer.alloc(HEAD_BYTES);
      Buffer.from(digest.replace('sha256:', ''), 'hex').copy(head);
      head.writeUInt32BE(from, 32);
      head.writeUInt32BE(content.length, 36);
      yield Buffer.concat([head, content.subarray(from, from + PART_BYTES)]);
    }
  },
  read(message: Buffer) {
    if (message.length < HEAD_BYTES) return null;
    return {
      digest: `sha256:${message.toString('hex', 0, 32)}` as const,
      from: message.readUInt32BE(32),
      size: message.readUInt32BE(36),
      bytes: message.subarray(HEAD_BYTES),
    };
  },
};

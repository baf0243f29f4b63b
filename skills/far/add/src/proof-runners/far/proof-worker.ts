import { hash, randomUUID } from 'node:crypto';
import { type JobRunner, type JobVerdict, platformOf, readJob } from '@patchclaw/claw';
import type { FarConnection } from '../../lib/far/far-connection.ts';
import type { ContentFolder } from './content-folder.ts';
import {
  AWAY_MS,
  BEAT_MS,
  contentPart,
  type Here,
  MOST_ASKED,
  type Need,
  proofSubjects,
  read,
  type Said,
  shortened,
} from './proof-messages.ts';

type Digest = `sha256:${string}`;

/** A job that the home has given to this machine. */
type Work = {
  readonly run: string;
  readonly ended: AbortController;
  /** Null while it runs. */
  said: Said | null;
};

type Fetching = {
  readonly parts: Map<number, Buffer>;
  readonly done: (content: Buffer) => void;
};

/** Runs the proofs that the home gives to this machine. */
export class ProofWorker {
  readonly #parts: ProofWorkerParts;
  readonly #boot = randomUUID();
  readonly #platform = platformOf(process);
  readonly #work = new Map<string, Work>();
  readonly #lastHeard = new Map<string, number>();
  readonly #fetching = new Map<Digest, Fetching>();
  readonly #running = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: ProofWorkerParts) {
    this.#parts = parts;
    const { connection, machine } = parts;
    connection.subscribe(proofSubjects.allDown(machine), (subject, message) => {
      if (subject === proofSubjects.down(machine, 'jobs')) this.#offered(message);
      if (subject === proofSubjects.down(machine, 'part')) this.#arrived(message);
    });
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
    this.#sayHere();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const { ended } of this.#work.values()) ended.abort();
    await Promise.allSettled(this.#running);
    await this.#parts.runner.close();
  }

  #beat(): void {
    for (const [run, at] of this.#lastHeard) {
      // The command at home was ended or killed.
      if (this.#parts.elapsed() - at > AWAY_MS) this.#keepOnly(run, new Set());
    }
    for (const { said } of this.#work.values()) if (said !== null) this.#say(said);
    this.#sayHere();
  }

  #offered(message: Buffer): void {
    const offers = read.offers(message);
    if (offers === null) return;
    const { run, jobs } = offers;
    if (!this.#lastHeard.has(run)) this.#sayHere();
    this.#keepOnly(run, new Set(jobs.map(({ ticket }) => ticket)));
    this.#lastHeard.set(run, this.#parts.elapsed());
    for (const { ticket, digest } of jobs) {
      if (!this.#work.has(ticket)) this.#start(run, ticket, digest as Digest);
    }
  }

  /** Ends and forgets what the home does not name any more. */
  #keepOnly(run: string, tickets: ReadonlySet<string>): void {
    if (tickets.size === 0) this.#lastHeard.delete(run);
    for (const [ticket, work] of this.#work) {
      if (work.run !== run || tickets.has(ticket)) continue;
      work.ended.abort();
      this.#work.delete(ticket);
    }
  }

  #start(run: string, ticket: string, digest: Digest): void {
    const work: Work = { run, ended: new AbortController(), said: null };
    const busy = [...this.#work.values()].filter(({ said }) => said === null).length;
    this.#work.set(ticket, work);
    if (busy >= this.#parts.slots) {
      work.said = { ticket, verdict: null, reason: 'busy' };
      this.#say(work.said);
      return;
    }
    const running = this.#prove(ticket, digest, work)
      .then(
        (verdict): Said => ({ ticket, verdict: asMessage(verdict), reason: '' }),
        (error: unknown): Said => ({ ticket, verdict: null, reason: reasonOf(error) }),
      )
      .then((said) => {
        work.said = said;
        if (this.#work.get(ticket) === work) this.#say(said);
        this.#parts.onProgress(`${digest.slice(7, 19)}: ${outcomeOf(said)}`);
      });
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
    this.#sayHere();
  }

  async #prove(ticket: string, digest: Digest, { ended }: Work): Promise<JobVerdict> {
    const job = await readJob(digest, this.#platform, (digests) =>
      this.#contents(ticket, digests, ended.signal),
    );
    return await this.#parts.runner.run(job, ended.signal);
  }

  /** Returns contents from this machine's folder; those that are not there come from the home. */
  async #contents(
    ticket: string,
    digests: readonly Digest[],
    signal: AbortSignal,
  ): Promise<readonly Buffer[]> {
    const { contents } = this.#parts;
    const found = new Map<Digest, Buffer>();
    const lacking: Digest[] = [];
    for (const digest of new Set(digests)) {
      const known = contents.read(digest);
      if (known === null) lacking.push(digest);
      else found.set(digest, known);
    }
    for (let at = 0; at < lacking.length; at += MOST_ASKED) {
      const asked = lacking.slice(at, at + MOST_ASKED);
      for (const [digest, content] of await this.#fetch(ticket, asked, signal)) {
        contents.write(digest, content);
        found.set(digest, content);
      }
    }
    return digests.map((digest) => found.get(digest) ?? Buffer.alloc(0));
  }

  async #fetch(
    ticket: string,
    digests: readonly Digest[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Digest, Buffer>> {
    const arrived = new Map<Digest, Buffer>();
    const all = Promise.withResolvers<void>();
    for (const digest of digests) {
      const other = this.#fetching.get(digest);
      this.#fetching.set(digest, {
        parts: other?.parts ?? new Map(),
        done: (content) => {
          other?.done(content);
          arrived.set(digest, content);
          if (arrived.size === digests.length) all.resolve();
        },
      });
    }
    const stop = () => all.reject(new Error('the home has taken the job back'));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const ask = () => {
      const missing = digests.filter((one) => !arrived.has(one));
      const need: Need = { ticket, digests: missing };
      const { connection, machine } = this.#parts;
      connection.publish(proofSubjects.up(machine, 'need'), JSON.stringify(need));
    };
    // A message may be lost with its connection.
    let last = -1;
    const again = setInterval(() => {
      const count = arrived.size + digests.reduce((sum, one) => sum + this.#pieces(one), 0);
      if (count === last) ask();
      last = count;
    }, BEAT_MS);
    try {
      ask();
      await all.promise;
      return arrived;
    } finally {
      clearInterval(again);
      signal.removeEventListener('abort', stop);
    }
  }

  #pieces(digest: Digest): number {
    return this.#fetching.get(digest)?.parts.size ?? 0;
  }

  #arrived(message: Buffer): void {
    const part = contentPart.read(message);
    const fetching = part === null ? undefined : this.#fetching.get(part.digest);
    if (part === null || fetching === undefined) return;
    fetching.parts.set(part.from, Buffer.from(part.bytes));
    const pieces = [...fetching.parts].sort(([one], [other]) => one - other);
    const content = Buffer.concat(pieces.map(([, bytes]) => bytes));
    if (content.length < part.size) return;
    this.#fetching.delete(part.digest);
    if (`sha256:${hash('sha256', content, 'hex')}` === part.digest) fetching.done(content);
    else this.#fetching.set(part.digest, { parts: new Map(), done: fetching.done });
  }

  #say(said: Said): void {
    const { connection, machine } = this.#parts;
    connection.publish(proofSubjects.up(machine, 'said'), JSON.stringify(said));
  }

  #sayHere(): void {
    const { connection, machine, slots } = this.#parts;
    const running = [...this.#work].flatMap(([ticket, { said }]) =>
      said === null ? [ticket] : [],
    );
    const here: Here = { boot: this.#boot, platform: this.#platform, slots, running };
    connection.publish(proofSubjects.up(machine, 'here'), JSON.stringify(here));
  }
}

export type ProofWorkerParts = {
  readonly machine: string;
  readonly connection: FarConnection;
  /** Proofs at the same time. */
  readonly slots: number;
  readonly contents: ContentFolder;
  readonly runner: JobRunner;
  readonly elapsed: () => number;
  readonly onProgress: (line: string) => void;
};

function asMessage(verdict: JobVerdict): Said['verdict'] {
  const { failures, warnings, ms } = shortened(verdict);
  return { failures: [...failures], warnings: [...warnings], ms };
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
}

function outcomeOf({ verdict, reason }: Said): string {
  if (verdict === null) return `could not run: ${reason}`;
  const [failure] = verdict.failures;
  return failure === undefined ? 'good' : `${failure.name} fails`;
}

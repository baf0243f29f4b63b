import { randomUUID } from 'node:crypto';
import { type DescribedJob, type JobVerdict, platformOf } from '@patchclaw/claw';
import type { FarConnection } from '../../lib/far/far-connection.ts';
import type { FarState } from '../../lib/far/far-state.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import {
  AWAY_MS,
  contentPart,
  type Here,
  type Offers,
  proofSubjects,
  read,
} from './proof-messages.ts';
import type { QueuedJob } from './proof-queue.ts';

export type MachinesParts = {
  readonly connection: FarConnection;
  readonly state: FarState;
  readonly run: string;
  isDistrusted(machine: string): boolean;
  /** The contents of a job that a machine has. */
  contentsOf(digest: string): DescribedJob['content'];
  /** Whether jobs other than this one wait for a machine. */
  doOthersWait(digest: string): boolean;
  onVerdict(machine: string, digest: string, verdict: JobVerdict): void;
  /** It could not run the job, or was lost with it; the job is in the queue again. */
  onFailed(machine: string, digest: string): void;
  onProgress(line: string): void;
  warn(text: string): void;
};

/** A machine that runs `claw far prove`. */
type Prover = { readonly here: Here; readonly heardAt: number };

/** A job that a machine has. */
type Offer = {
  readonly machine: string;
  readonly boot: string;
  readonly job: QueuedJob;
  readonly offeredAt: number;
};

/** The queue is told so often that a job is worked on; otherwise it hands it out again. */
const WORKING_MS = 5_000;
/** A job is offered again after so long. */
const RETRY_MS = 300;
/** A machine that has a job for longer loses it, whatever it says. */
const MOST_MS = 3_600_000;
const SENT_AT_ONCE_BYTES = 4 * 1024 ** 2;
/** What a machine may say: results have up to half a megabyte, and are repeated each second until they are heard. */
const HEARD_BYTES = { burst: 64 * 1024 ** 2, perSecond: 8 * 1024 ** 2 };
const MESSAGE_COST_BYTES = 1_024;
/** Each may ask for 128 contents. */
const NEEDS = { burst: 100, perSecond: 10 };

/** What is heard of one machine. */
function hearing() {
  const now = () => performance.now();
  return {
    bytes: new TokenBucket({ ...HEARD_BYTES, now }),
    needs: new TokenBucket({ ...NEEDS, now }),
    isIgnored: false,
  };
}

/** The machines that prove: who is there, which jobs each has, and what they say of them. */
export class ProofMachines {
  readonly #parts: MachinesParts;
  readonly #platform = platformOf(process);
  readonly #provers = new Map<string, Prover>();
  readonly #offers = new Map<string, Offer>();
  readonly #hearing = new Map<string, ReturnType<typeof hearing>>();
  /** Tickets of all offers so far: what a machine says that it runs may be a second old. */
  readonly #tickets = new Set<string>();
  #joined: readonly string[] = [];
  #drained: ReadonlySet<string> = new Set();
  #workingAt = 0;
  /** When a machine had its last answer out, while other jobs waited. */
  readonly #freeSince = new Map<string, number>();
  /** Of all proofs elsewhere: from the offer, or from when the machine was free for it, to the answer; and the proof alone. */
  readonly spent = { proofs: 0, wholeMs: 0, proofMs: 0 };

  constructor(parts: MachinesParts) {
    this.#parts = parts;
    parts.connection.subscribe(proofSubjects.allUp, (subject, message) =>
      this.#heard(subject, message),
    );
  }

  /** Digests of the jobs that machines have. */
  held(): ReadonlySet<string> {
    return new Set([...this.#offers.values()].map(({ job }) => job.digest));
  }

  offer(machine: string, job: QueuedJob): void {
    const boot = this.#provers.get(machine)?.here.boot ?? '';
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    const offeredAt = this.#freeSince.get(machine) ?? performance.now();
    this.#freeSince.delete(machine);
    this.#offers.set(ticket, { machine, boot, job, offeredAt });
    this.#sayOffers(machine);
  }

  /** Takes all jobs from a machine and gives them back to the queue. They do not count as failed there. */
  takeAllFrom(machine: string): void {
    for (const [ticket, offer] of this.#offers) {
      if (offer.machine !== machine) continue;
      this.#offers.delete(ticket);
      offer.job.giveBack(0);
    }
    this.#sayOffers();
  }

  /** Tells machines to end what they do. */
  endAll(): void {
    this.#offers.clear();
    this.#sayOffers();
  }

  /** Runs once a second: takes jobs from machines that are lost, and tells each machine which jobs it has. */
  beat(now: number): void {
    const { machines } = this.#parts.state.read();
    this.#joined = machines.map(({ name }) => name);
    this.#drained = new Set(machines.flatMap(({ name, isDraining }) => (isDraining ? [name] : [])));
    this.#takeBack(({ machine, offeredAt }) => {
      const heardAt = this.#provers.get(machine)?.heardAt ?? 0;
      return now - heardAt > AWAY_MS || now - offeredAt > MOST_MS;
    });
    this.#sayOffers();
    if (now - this.#workingAt > WORKING_MS) {
      this.#workingAt = now;
      for (const { job } of this.#offers.values()) job.working();
    }
  }

  /** Returns the least busy machine that is free, but none of these. */
  free(not: ReadonlySet<string>): string | null {
    const loads = this.present().flatMap((name) => {
      const here = this.#provers.get(name)?.here;
      if (here === undefined || not.has(name)) return [];
      const mine = [...this.#offers.values()].filter(({ machine }) => machine === name).length;
      const others = here.running.filter((ticket) => !this.#tickets.has(ticket)).length;
      return mine + others < here.slots ? [{ name, load: (mine + others) / here.slots }] : [];
    });
    return loads.toSorted((one, other) => one.load - other.load)[0]?.name ?? null;
  }

  /** Names of the machines that can be asked now. */
  present(): readonly string[] {
    const now = performance.now();
    return [...this.#provers].flatMap(([name, { here, heardAt }]) => {
      const isUsable =
        now - heardAt < AWAY_MS &&
        here.platform === this.#platform &&
        !this.#drained.has(name) &&
        !this.#parts.isDistrusted(name);
      return isUsable ? [name] : [];
    });
  }

  #heard(subject: string, message: Buffer): void {
    // The server lets a machine send below its own name alone.
    const [, , machine = '', , kind] = subject.split('.');
    const heard = this.#hearing.get(machine) ?? hearing();
    this.#hearing.set(machine, heard);
    if (heard.isIgnored) return;
    if (!heard.bytes.take(message.length + MESSAGE_COST_BYTES)) {
      heard.isIgnored = true;
      this.#provers.delete(machine);
      this.#parts.warn(
        `${machine} sends far more than a worker has reason to, and was not asked any more. ${removeText(machine)}`,
      );
      this.#takeBack((offer) => offer.machine === machine);
      return;
    }
    if (kind === 'here') this.#heardHere(machine, message);
    if (kind === 'need' && heard.needs.take()) void this.#send(machine, message).catch(() => {});
    if (kind === 'said') this.#heardSaid(machine, message);
  }

  #heardHere(machine: string, message: Buffer): void {
    const here = read.here(message);
    if (here === null) return;
    this.#provers.set(machine, { here, heardAt: performance.now() });
    // Another worker than the one that had the jobs has none of them.
    this.#takeBack((offer) => offer.machine === machine && offer.boot !== here.boot);
  }

  /** Takes a result only from the machine that has the job. */
  #heardSaid(machine: string, message: Buffer): void {
    const said = read.said(message);
    const offer = said === null ? undefined : this.#offers.get(said.ticket);
    if (said === null || offer === undefined || offer.machine !== machine) return;
    this.#offers.delete(said.ticket);
    this.#sayOffers(machine);
    const { job, offeredAt } = offer;
    const { verdict } = said;
    if (verdict === null || verdict.failures.some(({ kind }) => kind === 'npm')) {
      if (said.reason === 'busy') {
        job.giveBack(RETRY_MS);
        return;
      }
      const reason = said.reason || 'its packages cannot be installed there';
      this.#parts.onProgress(`${machine} could not run a proof: ${reason}`);
      this.#parts.onFailed(machine, job.digest);
      job.giveBack(0);
      return;
    }
    const now = performance.now();
    this.spent.proofs += 1;
    this.spent.wholeMs += now - offeredAt;
    this.spent.proofMs += verdict.ms;
    if (this.#parts.doOthersWait(job.digest)) this.#freeSince.set(machine, now);
    job.done();
    this.#parts.onVerdict(machine, job.digest, verdict);
  }

  /** Sends contents to a machine that has the job to which they belong. */
  async #send(machine: string, message: Buffer): Promise<void> {
    const need = read.need(message);
    const offer = need === null ? undefined : this.#offers.get(need.ticket);
    if (need === null || offer === undefined || offer.machine !== machine) return;
    const contents = this.#parts.contentsOf(offer.job.digest);
    const { connection } = this.#parts;
    let sentBytes = 0;
    for (const digest of need.digests) {
      const content = contents(digest);
      if (content === null) continue;
      for (const part of contentPart.write(digest, content)) {
        connection.publish(proofSubjects.down(machine, 'part'), part);
        sentBytes += part.length;
        if (sentBytes > SENT_AT_ONCE_BYTES) {
          await connection.flush();
          sentBytes = 0;
        }
      }
    }
  }

  /** Gives jobs back to the queue: another machine shall have them. */
  #takeBack(isLost: (offer: Offer) => boolean): void {
    for (const [ticket, offer] of this.#offers) {
      if (!isLost(offer)) continue;
      this.#offers.delete(ticket);
      this.#parts.onProgress(`${offer.machine} was lost in a proof, which goes to another machine`);
      this.#parts.onFailed(offer.machine, offer.job.digest);
      offer.job.giveBack(0);
    }
  }

  /** Says to machines which jobs they have. */
  #sayOffers(only: string | null = null): void {
    const { connection, run } = this.#parts;
    for (const machine of this.#joined) {
      if (only !== null && machine !== only) continue;
      const jobs = [...this.#offers].flatMap(([ticket, offer]) =>
        offer.machine === machine ? [{ ticket, digest: offer.job.digest }] : [],
      );
      const offers: Offers = { run, jobs };
      connection.publish(proofSubjects.down(machine, 'jobs'), JSON.stringify(offers));
    }
  }
}

/** Advice about a machine whose results do not count. */
export function removeText(machine: string): string {
  return `Find out why, or take it out: \`npx claw far remove ${machine}\`.`;
}
